// The sweep of a spec while it is being read: its axes and what it excludes. Values are checked only at the end,
// because an override may remove a wrong one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "spec/document.hpp"
#include "spec/sweep.hpp"

namespace chexbench::spec {

// Lookups of keys while a spec is being read: whether a key exists, which one was probably meant, and its value.
// Private to draft.cpp, sweep_draft.cpp and folder_file.cpp.

// A value and the place where it was stated, "spec.json: data.format".
struct Stated {
  Node node;
  std::string path;
};

// Returns whether the key is a parameter of an op, "pipeline.map.parallel_calls".
bool is_op_key(const std::string& key);

// Returns whether keys begin with `name` and a dot.
bool is_group(const std::string& name);

// Returns the names of groups and keys that may follow `prefix` ("" or "data.").
std::vector<std::string> names_under(const std::string& prefix);

// Throws for an unknown key. The message suggests a similar name in the same group, or the same name in another group.
// `more` are names allowed here besides the keys.
[[noreturn]] void throw_unknown(const std::string& key, const std::string& source,
                                const std::vector<std::string>& more = {});

// Throws if no axis can have this key. `more` is as in throw_unknown().
void check_axis_key(const std::string& key, const std::string& source, const std::vector<std::string>& more = {});

// Returns the pipeline that `node` names or lists. Messages call it `path`; a list gets `default_name`.
// @throws SpecError if there is no such pipeline, or if it cannot run
PipelineSpec find_pipeline_at(const Node& node, const std::string& path, const std::string& default_name);

// Returns the checked value of a swept key or of an op's parameter. `path` and `default_name` are as in
// find_pipeline_at(). @throws SpecError if the key cannot have this value
SettingValue checked_value(const std::string& key, const Node& node, const std::string& path,
                           const std::string& default_name);

// Collects axes and exclusions. Not thread-safe.
class SweepDraft {
 public:
  // Reads the object of a "sweep"; `source` names it in errors.
  // @throws SpecError if it is malformed, or if a key in it is unknown
  void read(const Node& node, const std::string& source);
  // Applies an override of sweep.NAME, where NAME is a key, "zip" or "exclude": replaces the previous one; null removes
  // it. @throws SpecError as read() does
  void set(const std::string& name, const Node& node, const std::string& source);
  void clear();
  // Appends an axis of one key. @throws SpecError if the value is not a list or is empty
  void add_axis(const std::string& key, Stated stated);
  // Removes a key from the sweep. Keys that a zip varies together with it stay.
  void remove_key(const std::string& key);
  bool has(const std::string& key) const;

  // Return the checked axes, in their order, and the checked exclusions.
  // @throws SpecError if a value is wrong, a key is there twice, or the lists of a zip differ in length
  std::vector<Axis> make_axes() const;
  std::vector<std::vector<Setting>> make_exclusions() const;

 private:
  // A future axis: a key, or the keys that a zip varies together.
  struct DraftAxis {
    std::vector<std::pair<std::string, Stated>> keys;
    std::string zip_path;  // "spec.json: sweep.zip[0]"; empty for a key by itself
  };

  void read_zip(const Node& node, const std::string& source);
  void read_exclude(const Node& node, const std::string& source);
  void check_keys_once() const;
  static void check_lengths(const DraftAxis& axis);
  static Axis make_axis(const DraftAxis& axis);

  std::vector<DraftAxis> axes_;
  std::vector<Stated> excluded_;  // objects of keys and values
};

}  // namespace chexbench::spec

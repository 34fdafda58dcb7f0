// A spec while it is being read: its file plus the overrides of the command line. Values and contradictions are checked
// only at the end, because an override may remove a wrong one. Also lookups of its keys: whether one exists,
// which was probably meant, and its value. Private to this folder.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "spec/document.hpp"
#include "spec/sweep.hpp"

namespace chexbench::spec {

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

// The sweep of a draft: collects axes and exclusions. Not thread-safe.
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

// Collects keys and axes. Call read() once, then set() for each override, then finish(). Not thread-safe.
class Draft {
 public:
  // Reads all keys of a document; `source` names it in errors.
  // @throws SpecError if it is not an object, if a key is unknown (with the nearest one), or if a sweep is malformed
  void read(const Node& document, const std::string& source);
  // Makes read() skip unknown keys.
  void ignore_unknown_keys() { ignores_unknown_ = true; }
  // Applies an override "key=value" and removes that key from the sweep. The value is JSON, or else text; null restores
  // the default.
  // @throws SpecError if there is no '=', if the key is unknown, or if the value contains a duplicate key
  void set(const std::string& assignment);
  // Checks every value, expands the sweep and checks its trials. `asks_folders` also reads the files in the trials'
  // roots (folder_file.hpp).
  // @throws SpecError if a value is wrong, if options contradict each other, if the sweep has too many trials, or as
  // read_folder_file()
  SweepSpec finish(bool asks_folders) const;

 private:
  void read_group(const std::string& prefix, const Object& object, const std::string& source);
  void state(const std::string& key, const Node& node, const std::string& source);
  void restate(const std::string& key, const Node& node, const std::string& source);  // null removes the statement
  void remove_ranks_list();                                                           // the same axis as sweep.ranks

  std::map<std::string, Stated> stated_;  // by key: scalar keys, "pipeline", and parameters of ops
  SweepDraft sweep_;
  bool ignores_unknown_ = false;
};

}  // namespace chexbench::spec

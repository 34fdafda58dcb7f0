// The sweep of a spec while it is being read: its axes and what it excludes. Values are checked only at the end,
// because an override may remove what would be wrong.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "spec/draft_keys.hpp"

namespace chexbench::spec {

// Collects axes and exclusions. Not thread-safe.
class SweepDraft {
 public:
  // Takes the object of a "sweep"; `source` names it in errors.
  // @throws SpecError if it is malformed, or if a key in it is unknown
  void read(const Node& node, const std::string& source);
  // Takes an override of sweep.NAME, where NAME is a key, "zip" or "exclude", in place of what was there; null removes
  // it. @throws SpecError as read() does
  void set(const std::string& name, const Node& node, const std::string& source);
  void clear();
  // Adds an axis of one key behind all others. @throws SpecError if it is no list, or an empty one
  void add_axis(const std::string& key, Stated stated);
  // Removes a key from the sweep. Keys that a zip varies together with it stay.
  void remove_key(const std::string& key);
  bool has(const std::string& key) const;

  // Return the checked axes, in their order, and the checked exclusions.
  // @throws SpecError if a value is wrong, a key is there twice, or the lists of a zip differ in length
  std::vector<Axis> make_axes() const;
  std::vector<std::vector<Setting>> make_exclusions() const;

 private:
  // What becomes an axis: a key, or the keys that a zip varies together.
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

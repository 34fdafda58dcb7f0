// A spec while it is being read: its file plus the overrides of the command line. Values and contradictions are checked
// only at the end, because an override may remove a wrong one.
#pragma once

#include <map>
#include <string>

#include "spec/document.hpp"
#include "spec/sweep.hpp"
#include "spec/sweep_draft.hpp"

namespace chexbench::spec {

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

// A spec while it is being read: what its file states and what the command line overrides. Values and contradictions
// are checked only at the end, because an override may remove what would be wrong.
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
  // Takes all keys of a document; `source` names it in errors.
  // @throws SpecError if it is not an object, if a key is unknown (with the nearest one), or if a sweep is malformed
  void read(const Node& document, const std::string& source);
  // From then on read() leaves out keys that are not known.
  void ignore_unknown_keys() { ignores_unknown_ = true; }
  // Takes an override "key=value" and removes that key from the sweep. The value is JSON, or else text; null removes
  // what was stated, which restores the default.
  // @throws SpecError if there is no '=', if the key is unknown, or if a duplicate key is in the value
  void set(const std::string& assignment);
  // Checks every value, expands the sweep and checks its trials. `asks_folders` has what folders say of themselves
  // (folder_file.hpp) read for the roots of the trials.
  // @throws SpecError if a value is wrong, if options contradict each other, if the sweep has too many trials, or as
  // read_folder_file()
  SweepSpec finish(bool asks_folders) const;

 private:
  void read_group(const std::string& prefix, const Object& object, const std::string& source);
  void state(const std::string& key, const Node& node, const std::string& source);
  void restate(const std::string& key, const Node& node, const std::string& source);  // null removes the statement
  void remove_ranks_list();  // which is the same axis as sweep.ranks

  std::map<std::string, Stated> stated_;  // by key: scalar keys, "pipeline", and parameters of ops
  SweepDraft sweep_;
  bool ignores_unknown_ = false;
};

}  // namespace chexbench::spec

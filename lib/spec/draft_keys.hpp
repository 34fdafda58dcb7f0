// What a draft asks about keys while it reads a spec: whether there is one, which one may have been meant, and what its
// value is. Private to draft.cpp, sweep_draft.cpp and folder_file.cpp.
#pragma once

#include <string>
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
// `more` are names that may stand at this place beside the keys.
[[noreturn]] void throw_unknown(const std::string& key, const std::string& source,
                                const std::vector<std::string>& more = {});

// Throws if no axis can have this key. `more` is as in throw_unknown().
void check_axis_key(const std::string& key, const std::string& source, const std::vector<std::string>& more = {});

// Returns the pipeline that `node` names or lists. `path` is its place in messages; a list gets `default_name`.
// @throws SpecError if there is no such pipeline, or if it cannot run
PipelineSpec find_pipeline_at(const Node& node, const std::string& path, const std::string& default_name);

// Returns the checked value of a swept key or of an op's parameter. `path` and `default_name` are as in
// find_pipeline_at(). @throws SpecError if the key cannot have this value
SettingValue checked_value(const std::string& key, const Node& node, const std::string& path,
                           const std::string& default_name);

}  // namespace chexbench::spec

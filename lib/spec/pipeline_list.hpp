// Finds pipelines (the named ones of configs/pipelines, which are built into the binary, and files), converts op lists
// between JSON trees and PipelineSpec, and sets the parameters of ops that sweeps and overrides name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/document.hpp"
#include "spec/ops.hpp"

namespace chexbench::spec {

// Returns the pipeline that `node` describes: {"name": "...", "ops": [...]}, or the list of ops alone, which is then
// called `default_name`. Checks it with check_kinds(). Messages call it `where`, "spec.json: pipeline".
// @throws SpecError if it is not such a list, an op or parameter is unknown or invalid, the ops do not fit together, or
// there are more than 100
PipelineSpec pipeline_from(const Node& node, const std::string& where, const std::string& default_name);

// Returns the pipeline as JSON with all its parameters; pipeline_from() restores the same pipeline.
Node to_node(const PipelineSpec& pipeline);

// The parts of the key of an op's parameter: "pipeline.map.parallel_calls", or "pipeline.shuffle[1].buffer" for the
// second op of that name.
struct OpKey {
  std::string op;
  int occurrence = -1;  // counted from 0; -1: not given, so there must be only one such op
  std::string parameter;
};

// Parses a key that begins with "pipeline."; `where` begins the messages.
// @throws SpecError if it is malformed, or if there is no such op or parameter (with the nearest one)
OpKey parse_op_key(const std::string& key, const std::string& where);

// Returns the rule of the parameter that `key`, a result of parse_op_key(), names. Valid until the program ends.
const ParameterRule& parameter_rule(const OpKey& key);

// Returns the value of the parameter that `key` names; nothing if the pipeline has no such op.
// @throws SpecError if it has several and the key gives no index
std::optional<ParameterValue> value_of(const PipelineSpec& pipeline, const std::string& key);

// Sets the parameter that `key` names to `value`, which its rule must allow.
// @throws SpecError if the pipeline has no such op (naming those it has), or several and the key gives no index
void set_parameter(PipelineSpec& pipeline, const std::string& key, const ParameterValue& value);

// Returns the names of the built-in pipelines, sorted: the files of configs/pipelines without ".json". Thread-safe.
std::span<const std::string> preset_names();

// Returns a built-in pipeline, with all its parameters.
// @throws SpecError if there is no such name; the message suggests the nearest one
PipelineSpec preset(const std::string& name);

// Returns the pipeline that `name_or_path` names: a built-in one, or that of a file if it contains a '/' or ends in
// ".json". A path is relative to the working directory, and a list without a name gets the file's.
// @throws SpecError if there is no such pipeline, or if the file cannot be read or is not a valid pipeline
PipelineSpec find_pipeline(const std::string& name_or_path);

// Parses a pipeline from JSON: {"name": "...", "ops": [...]}, or the list of ops alone, which is then called
// `default_name`. `source` names the text in errors.
// @throws SpecError if the text is not JSON or not a valid pipeline
PipelineSpec parse_pipeline(const std::string& text, const std::string& source,
                            const std::string& default_name = "custom");

}  // namespace chexbench::spec

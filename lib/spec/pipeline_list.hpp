// Op lists between JSON trees and PipelineSpec, and the parameters of ops that sweeps and overrides reach into.
#pragma once

#include <string>
#include <vector>

#include "spec/document.hpp"
#include "spec/ops.hpp"

namespace chexbench::spec {

// An op list in place: {"name": "...", "ops": [...]}, or the list alone, which is then called `default_name`.
// `where` is the list's path in messages, "spec.json: pipeline". Kinds are checked. @throws SpecError
PipelineSpec pipeline_from(const Node& node, const std::string& where, const std::string& default_name);

// The op list with all its parameters; pipeline_from() gives the same pipeline.
Node to_node(const PipelineSpec& pipeline);

// "pipeline.map.parallel_calls", or "pipeline.shuffle[1].buffer" for the second of several.
struct OpKey {
  std::string op;
  int occurrence = -1;  // -1: there must be only one
  std::string parameter;
};

// Takes a key that begins with "pipeline." apart. @throws SpecError: no such op or parameter, with the nearest one
OpKey parse_op_key(const std::string& key, const std::string& where);

// The rule of the parameter that `key` names, which parse_op_key() has checked.
const ParameterRule& parameter_rule(const OpKey& key);

// Sets a parameter; the value has been checked. @throws SpecError: the pipeline has no such op (naming those it has),
// or several
void set_parameter(PipelineSpec& pipeline, const std::string& key, const ParameterValue& value);

}  // namespace chexbench::spec

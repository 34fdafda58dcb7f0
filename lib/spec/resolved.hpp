// A resolved trial as text: what every run prints, what reports carry and what the journal's keys are made of.
#pragma once

#include <string>
#include <string_view>

#include "spec/experiment.hpp"

namespace chexbench::spec {

// The trial as JSON, indented, an op a line, no newline at the end: every key that has a meaning in this trial (so
// no momentum with adam), in the order of configs/schema.json, the pipeline as its op list. parse_experiment() of it
// gives the same trial.
std::string to_json(const Experiment& experiment);

// The op list as a file of configs/pipelines has it: {"name": ..., "ops": [...]}. parse_pipeline() gives the same one.
std::string to_json(const PipelineSpec& pipeline);

// 16 hexadecimal digits that are the same for the same trial and the same `extra` (e.g. what else results depend on),
// on every machine. The experiment's name does not count.
std::string trial_key(const Experiment& experiment, std::string_view extra = {});

}  // namespace chexbench::spec

// Writes a resolved trial as JSON. Every run prints this text, reports contain it, and the journal's keys are hashes of
// it.
#pragma once

#include <string>
#include <string_view>

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// Returns the trial as indented JSON, one op per line, without a newline at the end. It contains every key that has a
// meaning in this trial (no momentum with adam), in the order of configs/schema.json, and the pipeline as its op list.
// parse_trial() of it gives the same trial.
std::string to_json(const TrialSpec& experiment);

// Returns the pipeline as a file of configs/pipelines has it: {"name": ..., "ops": [...]}, without a newline at the
// end. parse_pipeline() of it gives the same pipeline.
std::string to_json(const PipelineSpec& pipeline);

// Returns a key of a trial: 16 hexadecimal digits, the FNV-1a hash of its JSON and of `extra` (whatever else results
// depend on). It is the same on every machine and does not depend on the experiment's name.
std::string trial_key(const TrialSpec& experiment, std::string_view extra = {});

}  // namespace chexbench::spec

// Parses experiment files (JSON with comments) into specs. Everything that is not understood is an error, whose message
// gives the JSON path, what was expected and the nearest valid name.
#pragma once

#include <string>
#include <vector>

#include "spec/sweep.hpp"

namespace chexbench::spec {

// Reads the file at `path`, applies `overrides` in their order, and checks all trials. An override is "key=value"; its
// value is JSON, or else text; null restores the default. Overriding a swept key takes it out of the sweep. Example:
//   load_spec("configs/experiments/naive-vs-optimized.json", {"data.root=/data/nih", "pipeline.map.parallel_calls=4"})
// @throws SpecError if the file cannot be read, its syntax is wrong (with line and column), a key is unknown or twice
// there, a value has the wrong type or is out of range, or options contradict each other
SweepSpec load_spec(const std::string& path, const std::vector<std::string>& overrides = {});

// Does the same for the text of a file; `source` names it in errors. @throws SpecError as load_spec() does
SweepSpec parse_spec(const std::string& text, const std::string& source,
                     const std::vector<std::string>& overrides = {});

// Parses one trial from the text that to_json() of resolved.hpp wrote, as journals and reports hold it. `source` names
// the text in errors.
// @throws SpecError as load_spec() does, and if the text describes more than one trial
Experiment parse_experiment(const std::string& text, const std::string& source);

}  // namespace chexbench::spec

// JSON (comments allowed) -> spec. Everything that is not understood is an error that names the JSON path, what was
// expected and the nearest valid name.
#pragma once

#include <string>
#include <vector>

#include "spec/sweep.hpp"

namespace chexbench::spec {

// Reads the file at `path` and applies `overrides`, each "key=value" (the value is JSON, or else text; null: back to
// the default). Overriding a swept key removes its axis. All trials are checked.
//   load_spec("configs/experiments/naive-vs-optimized.json", {"data.root=/data/nih", "pipeline.map.parallel_calls=4"})
// @throws SpecError: unreadable file, JSON syntax (with line and column), unknown or duplicate key, wrong type, value
// out of range, contradictory options
SweepSpec load_spec(const std::string& path, const std::vector<std::string>& overrides = {});

// The same for text; `source` names it in errors. @throws SpecError as above
SweepSpec parse_spec(const std::string& text, const std::string& source,
                     const std::vector<std::string>& overrides = {});

// One trial as to_json() of resolved.hpp wrote it, for journals and reports. A name it does not know is an error, as
// above. @throws SpecError; also where the text describes more than one trial
Experiment parse_experiment(const std::string& text, const std::string& source);

}  // namespace chexbench::spec

// Holds this machine's training engine against golden values.
#pragma once

#include <string>

#include "spec/experiment.hpp"

namespace chexbench::verbs {

struct SelftestEngine {
  std::string name = "auto";  // as in the spec
  spec::Precision precision = spec::Precision::f32;
};

// Trains the golden file's network on its batch with an engine, and compares: logits 1e-3 of the
// largest, loss 5e-4, each gradient's norm 2e-2 (2e-3 in the median), sampled entries 2e-2 of their tensor's RMS in the
// median and 5e-1 each, running statistics 2e-3 of their norm, the losses of the first two steps of SGD and Adam 5e-2.
// These are what f32 arithmetic reaches against f64: a rounded activation that changes its sign switches a whole
// gradient path, so PyTorch's own f32 puts single entries 3e-1 and a third of ResNet50's beyond 2e-2. In tf32 all but
// the norms may be five times as far.
// Returns a summary for people.
// @throws ComparisonError with all comparisons and their worst places where one does not hold; SpecError for an
// engine that does not train, or another precision; DataError, DeviceError
std::string selftest_engine(const std::string& golden_path, const SelftestEngine& tested = {});

}  // namespace chexbench::verbs

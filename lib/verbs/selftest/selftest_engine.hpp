// Compares a training engine of this machine with golden values, for `chexbench dev selftest`.
#pragma once

#include <string>

#include "spec/trial_spec.hpp"

namespace chexbench::verbs {

// The engine to test.
struct SelftestEngine {
  std::string name = "auto";  // as in a spec
  spec::Precision precision = spec::Precision::f32;
};

// Trains the golden file's network on its batch with an engine, and compares it with the golden values, which were
// computed in f64. The allowed deviations are
// - logits: 1e-3 of the largest logit; loss: 5e-4 of the loss
// - gradients, relative to the RMS of their tensor: norms 2e-2 each and 2e-3 in the median, sampled entries 5e-1 each
//   and 2e-2 in the median
// - running statistics: 2e-3 of their norm
// - losses of the first two steps of SGD and of Adam: 5e-2
// This is the accuracy of f32 arithmetic: a rounded activation that changes its sign switches a whole gradient path, so
// in PyTorch's own f32 single entries are off by 3e-1, and a third of ResNet50's by more than 2e-2. tf32 has as few
// bits as fp16, so it is compared with f32 instead (precision_gate.hpp): on an H200, ResNet50's logits were off
// by 1.5e-2. Returns a summary for people.
// @throws ComparisonError if one comparison fails; the message has all comparisons, with the places of the worst
// deviations
// @throws SpecError if the engine does not train, or the precision is not f32
// @throws DataError if the golden file cannot be read
// @throws DeviceError if the engine is missing or its device fails
std::string selftest_engine(const std::string& golden_path, const SelftestEngine& tested = {});

}  // namespace chexbench::verbs

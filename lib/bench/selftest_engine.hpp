// Holds this machine's training engine against golden values.
#pragma once

#include <string>

namespace chexbench::bench {

// Trains the golden file's network on its batch with `engine` (a name of the spec), and compares: logits 1e-3 of the
// largest, loss 5e-4, each gradient's norm 2e-2 (2e-3 in the median), sampled entries 2e-2 of their tensor's RMS in the
// median and 5e-1 each, running statistics 2e-3 of their norm, the losses of the first two steps of SGD and Adam 5e-2.
// These are what f32 arithmetic reaches against f64: a rounded activation that changes its sign switches a whole
// gradient path, so PyTorch's own f32 puts single entries 3e-1 and a third of ResNet50's beyond 2e-2.
// Returns a summary for people.
// @throws ComparisonError with all comparisons and their worst places where one does not hold; SpecError for an
// engine that does not train; DataError, DeviceError
std::string selftest_engine(const std::string& golden_path, const std::string& engine = "auto");

}  // namespace chexbench::bench

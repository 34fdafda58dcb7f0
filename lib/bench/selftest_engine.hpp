// Holds this machine's training engine against golden values.
#pragma once

#include <string>

namespace chexbench::bench {

// Trains the golden file's network on its batch with the engine that `auto` gives, and compares: logits 1e-3 of the
// largest, loss 5e-4, each gradient's norm 2e-2 (2e-3 in the median), sampled entries 2e-2 of their tensor's RMS,
// running statistics 2e-3 of their norm, the losses of the first two steps of SGD and Adam 5e-2. These are what f32
// arithmetic reaches against f64. Returns a summary for people.
// @throws ComparisonError naming the worst value of each comparison that does not hold; DataError, DeviceError
std::string selftest_engine(const std::string& golden_path);

}  // namespace chexbench::bench

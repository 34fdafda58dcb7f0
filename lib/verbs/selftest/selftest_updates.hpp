// Compares an engine's updates with the formulas of torch.optim in double, for `chexbench dev selftest`.
#pragma once

#include <string>

namespace chexbench::verbs {

// Trains a small network for three steps by each optimizer, with weight decay, clipping, a moving average of the
// weights, label smoothing and class weights, of labels and of exclusive classes. Compares the loss with the one
// computed from the engine's logits, and each weight and its average with the formulas applied to the engine's own
// gradients. Returns a summary for people.
// @throws ComparisonError if a value is too far away; the message has all comparisons
// @throws SpecError if the engine does not train
// @throws DeviceError if the engine is missing, or its device fails
std::string selftest_updates(const std::string& engine);

}  // namespace chexbench::verbs

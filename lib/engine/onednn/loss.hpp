// Binary cross-entropy on logits, the mean over batch x outputs.
#pragma once

#include <span>

namespace chexbench::engine {

// Returns the loss and writes its gradient by the logits. All spans hold [batch, outputs].
// loss = max(z, 0) - z t + log(1 + exp(-|z|)), d loss / dz = sigmoid(z) - t, each over the count.
double binary_cross_entropy(std::span<const float> logits, std::span<const float> targets, std::span<float> gradient);

}  // namespace chexbench::engine

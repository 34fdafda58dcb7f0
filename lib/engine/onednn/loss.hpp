// The loss of multi-label classification: binary cross-entropy on logits, averaged over batch and outputs.
#pragma once

#include <span>

namespace chexbench::engine::onednn {

// Returns the loss and writes its gradient with respect to the logits. All spans hold [batch, outputs] values. For
// logit z and target t the loss is max(z, 0) - z t + log(1 + exp(-|z|)), which cannot overflow, and its gradient is
// sigmoid(z) - t. Both are 0 where the target is kIgnoredLabel, and are divided by the number of all values, so that
// the mean over ranks is that of the whole batch. The sum is computed in f64.
double binary_cross_entropy(std::span<const float> logits, std::span<const float> targets, std::span<float> gradient);

}  // namespace chexbench::engine::onednn

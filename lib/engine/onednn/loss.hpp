// The loss of a batch, and its gradient with respect to the logits.
#pragma once

#include <span>

#include "engine/training_engine.hpp"

namespace chexbench::engine::onednn {

// Returns the loss by `rule` and writes its gradient. All spans hold [batch, outputs] values; a target is 0, 1 or
// kIgnoredLabel, which has no loss and no gradient; for task classes exactly one target of an image is 1. Sums are
// computed in f64, and no finite logit overflows: the binary cross-entropy of logit z and target t is max(z, 0)
// - z t + log(1 + exp(-|z|)), its gradient sigmoid(z) - t.
double loss_of(const LossRule& rule, std::size_t outputs, std::span<const float> logits, std::span<const float> targets,
               std::span<float> gradient);

}  // namespace chexbench::engine::onednn

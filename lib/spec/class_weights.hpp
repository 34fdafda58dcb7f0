// Interprets training.class_weights.
#pragma once

#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// Returns the numbers in training.class_weights; none for a word (none, balanced).
// @throws SpecError if it is neither, or a number is not positive
std::vector<float> stated_class_weights(const TrainingSpec& training);

// Returns whether the weights are computed from the training images.
bool balances_classes(const TrainingSpec& training);

}  // namespace chexbench::spec

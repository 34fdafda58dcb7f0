// What training.class_weights says.
#pragma once

#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// Returns the numbers of training.class_weights; none if it is a word (none, balanced).
// @throws SpecError if it is neither, or a number is not positive
std::vector<float> stated_class_weights(const TrainingSpec& training);

// Returns whether the weights follow from the images that train.
bool balances_classes(const TrainingSpec& training);

}  // namespace chexbench::spec

// Interprets the keys whose text is a list: training.class_weights and second_job.cores.
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

// Returns the CPUs of "cpus:0-3,8", the format of taskset and cgroups; none for "shared" and "apart".
// @throws SpecError if the list is malformed
std::vector<int> second_job_cpus(const std::string& cores);

}  // namespace chexbench::spec

// What the labels of the images that train mean for the loss.
#pragma once

#include <vector>

#include "dataset/dataset.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// Checks that the images suit training.task: of classes, each image has exactly one.
// @throws DataError naming an image that has none or several
void check_task(const spec::TrialSpec& spec, const dataset::Dataset& images);

// Returns what training.class_weights gives each label of the data set; nothing if all count alike. Balanced, the
// positives of a label count together as much as its negatives (negatives / positives) or, of classes, each class as
// much as any other one (images / classes / images of the class). Only the images that train are counted, not those of
// the same split that validate, and not those of which the label is unknown.
// @throws SpecError if the spec has another number of weights than one or one for each label
// @throws DataError if a label cannot be balanced because none or all of the images have it
std::vector<float> class_weights(const spec::TrialSpec& spec, const dataset::Dataset& images);

}  // namespace chexbench::bench

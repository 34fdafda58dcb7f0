// Chooses the images for training and those for validation, such that no patient is in both.
#pragma once

#include "dataset/dataset.hpp"

namespace chexbench::dataset {

struct PatientSplit {
  Dataset training;
  Dataset validation;
};

// With a share of 0, both parts are the whole data set. Otherwise puts the share `validation_share` of the patients (at
// least one, and all but one at most) with all their images into `validation`. The choice depends only on the patients'
// numbers and the share, so it is the same for every format, rank, seed and pipeline. Shards stay whole: both parts
// list all of them, and readers leave out the images that are not in their part (Dataset::partial). total_bytes is
// divided by the number of images. Thread-safe.
// @throws DataError if there are fewer than two patients
PatientSplit split_by_patient(const Dataset& dataset, double validation_share);

// Returns the images of a training over epochs. A data set with its own validation images (Dataset::validation) trains
// on all others, regardless of the share, unless that is 0; else as split_by_patient(). Thread-safe. @throws DataError
// as split_by_patient()
PatientSplit split_for_epochs(const Dataset& dataset, double validation_share);

}  // namespace chexbench::dataset

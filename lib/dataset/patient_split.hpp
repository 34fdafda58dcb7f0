// Images for training and images for validation, such that no patient is in both.
#pragma once

#include "dataset/dataset.hpp"

namespace chexbench::dataset {

struct PatientSplit {
  Dataset training;
  Dataset validation;
};

// Puts `validation_share` of the patients (at least one) with all their images into `validation`. Which ones depends on
// their numbers and the share alone: the same for every format, rank, seed and pipeline. Shards stay whole: where both
// parts read the same ones, readers leave out what is not in their part (Dataset::partial).
// @throws DataError where there are fewer than two patients
PatientSplit split_by_patient(const Dataset& dataset, double validation_share);

}  // namespace chexbench::dataset

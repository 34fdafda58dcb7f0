// Finds out whether the images of a data set changed after they were converted.
#pragma once

#include <cstdint>
#include <optional>

#include "spec/trial_spec.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

// How many of the examined image files are newer than their conversion.
struct NewerImages {
  std::uint64_t looked_at = 0;  // up to 64, evenly spread
  std::uint64_t newer = 0;
};

// Compares the times of image files with that of the manifest of their conversion to `format`. Returns std::nullopt if
// the root is not a folder of this machine, has no manifest of the split, or has no image files. Lists all image files,
// which takes two seconds for a million. Thread-safe.
// @throws DataError if a folder cannot be read
std::optional<NewerImages> newer_images(const storage::DataRoot& root, spec::Split split, spec::DataFormat format);

}  // namespace chexbench::dataset

// What the tables of CheXpert and MIMIC-CXR-JPG have in common: the observations of the CheXpert labeler, and images
// in a folder for each study.
#pragma once

#include <string_view>
#include <vector>

#include "dataset/index.hpp"

namespace chexbench::dataset {

// Returns `labels` for such a table: with `image_column`; with the 14 observations of the labeler in CheXpert's order,
// if it does not choose columns, so that a network that was trained on one of the sets can judge the other; and with
// what -1 and an empty field mean, U-Ones and U-Zeros if it does not say. The log tells that once.
spec::LabelsSpec observation_labels(const spec::LabelsSpec& labels, std::string_view image_column);

// Returns the last `parts` parts of a path, or the whole path if it has fewer: where a study's image lies in its set,
// whatever the folders around it are called.
std::string_view last_parts(std::string_view path, int parts);

// Returns the image files of the root under the last `parts` parts of their paths, with the ending .jpg that the tables
// give them, in the order of names. Names and paths are kept in `names`; `passed` is as in list_images().
// @throws DataError if two files have one name, or a folder cannot be read
std::vector<ImageFile> find_study_files(const storage::DataRoot& root, int parts, NameArena& names, PassedOver* passed);

}  // namespace chexbench::dataset

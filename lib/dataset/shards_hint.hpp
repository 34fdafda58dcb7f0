// Tells people what to do who name a folder of shards where a data set is expected.
#pragma once

#include <string>
#include <vector>

#include "storage/data_root.hpp"

namespace chexbench::dataset {

// Throws if `entries`, those of the root, are what `chexbench data convert` put into the folder of a format: the data
// set is the folder above. Thread-safe.
// @throws DataError with the path of that folder
void refuse_folder_of_format(const storage::DataRoot& root, const std::vector<storage::StoreEntry>& entries);

// Returns a sentence for the end of a message, after "; ", if the root or a folder in it holds shards
// that cannot be read there: what they lack. Returns "" if none are found. Thread-safe.
// @throws DataError if the root cannot be listed
std::string shards_hint(const storage::DataRoot& root);

}  // namespace chexbench::dataset

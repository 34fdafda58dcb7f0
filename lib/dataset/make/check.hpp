// Checks every byte of a data set, for `chexbench data check`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/passed_over.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

struct CheckReport {
  std::uint64_t images = 0;           // image files that were read
  std::uint64_t records = 0;          // records of shards and images of cached pixels that were read
  std::uint64_t bytes = 0;            // of both
  double seconds = 0;                 // wall-clock time
  std::vector<std::string> problems;  // one sentence each, beginning with the file; sorted
  PassedOver passed;                  // files that were not checked, because the data set does not use them
};

// Checks the following, and continues after a problem:
// - every image of the table: its chunk CRCs if it is a PNG, and that it can be decoded;
// - every record of every split that was converted to shards of any format: its CRCs, its name, split and labels
// against
//   the table, and that it gives the same tensor as its image file (224x224x3 f32), bit for bit;
// - that each image of such a split that has a file is in exactly one record;
// - if the root is local, every image of every file of cached pixels: its CRC, and that its image file gives the same
//   8-bit pixels at that size.
// - that no image is a link that leads nowhere, or a key with an empty part.
// Images without a file are not problems; `data index` counts them. Uses one thread per usable core if `threads` is 0.
// @throws DataError if the table, the lists or the folders of the root cannot be read, as read_index() and
// find_files(), or its shards are its index (data.layout imagenet), so there is nothing to compare
// @throws SpecError as read_index()
// @throws InterruptedError after a signal
CheckReport check_data_set(const storage::DataRoot& root, std::size_t threads = 0);

}  // namespace chexbench::dataset

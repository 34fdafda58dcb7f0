// Is every byte of a data set what it should be?
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/data_root.hpp"

namespace chexbench::dataset {

struct CheckReport {
  std::uint64_t images = 0;   // image files read
  std::uint64_t records = 0;  // of shards and cached pixels, read
  std::uint64_t bytes = 0;    // of both
  double seconds = 0;
  std::vector<std::string> problems;  // one sentence each, beginning with the file; sorted
};

// Reads every image of the table (chunk CRCs, then a full decode) and every record of every split that was converted,
// into whichever format: its CRCs, the fields against the table, and that the record gives the tensor its file gives
// (224x224x3 f32), bit for bit; that each image of a split converted into shards is in exactly one record; every image
// of every file of cached pixels likewise, against what its file gives at that size, in u8. Goes on after a problem.
// Images without a file are not problems (`data index` counts them). `threads` 0: one a usable core.
// @throws DataError where the root cannot be read at all
CheckReport check_data_set(const storage::DataRoot& root, std::size_t threads = 0);

}  // namespace chexbench::dataset

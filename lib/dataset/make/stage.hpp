// Copies what a run reads of a data set into a folder of this machine: from any store, in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "spec/experiment.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

// Of the file system that `folder` is in, or will be. @throws OutputError with the path and the system's reason
std::uint64_t free_bytes(const std::string& folder);

struct StageOptions {
  spec::DataSpec data;      // which images of which root, as which files; root and store say where they are
  std::string folder;       // becomes a root of the same layout
  std::size_t threads = 0;  // 0: one a usable core; 16 where reads mostly wait
  std::function<std::uint64_t(const std::string&)> free_bytes = dataset::free_bytes;
};

// What was done; also the contents of the record that it leaves.
struct Staging {
  std::string from;
  std::string record;        // path of the record
  std::uint64_t images = 0;  // of the split
  std::uint64_t files = 0;
  std::uint64_t kept = 0;          // were there already
  std::uint64_t bytes = 0;         // of all files
  std::uint64_t copied_bytes = 0;  // of those not kept
  double seconds = 0;
};

// Copies the files that the split's labels come from, and its images or shards. A file takes its name when all of its
// bytes are there, as many as the store said; one that is there already with that size, and of a local root not older,
// is kept, so that the same command goes on where it was stopped. Leaves FOLDER/staged-SPLIT-FORMAT.json at the end,
// unless all was there and an earlier one is.
// @throws SpecError: a folder that is the root, or an URL; format synthetic or cached, or shards of layout folders,
// whose labels are the images' folders; DataError: as open_dataset(), or a file that cannot be read as a whole;
// OutputError: no room, or a file cannot be written
Staging stage_data_set(const StageOptions& options);

// What it took to stage the split that lies in `root`, as its record tells.
struct StagingCost {
  std::string from;
  std::uint64_t images = 0;
  double seconds = 0;
  std::uint64_t bytes = 0;
};

// Nothing where there is no record, it is damaged, or the staging was resumed, whose seconds are not all of them.
std::optional<StagingCost> staging_cost(const storage::DataRoot& root, spec::Split split, spec::DataFormat format);

}  // namespace chexbench::dataset

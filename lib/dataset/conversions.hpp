// What earlier conversions left in a root: hints about their shards, what they cost, and whether images are newer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

// Throws if `entries`, those of the root, are the output of `chexbench data convert` for a format: the data set is the
// folder above. Thread-safe.
// @throws DataError with the path of that folder
void refuse_folder_of_format(const storage::DataRoot& root, const std::vector<storage::StoreEntry>& entries);

// Returns a sentence for the end of a message, after "; ", if the root or a folder in it contains shards that cannot be
// read there, with what is missing. Returns "" if none are found. Thread-safe.
// @throws DataError if the root cannot be listed
std::string shards_hint(const storage::DataRoot& root);

// The cost of converting a split, from its manifest, to be weighed against the speed of the shards.
struct ConversionCost {
  std::uint64_t images = 0;
  double seconds = 0;             // wall-clock time of the whole conversion
  std::uint64_t shard_bytes = 0;  // of all shards, or of the file of cached pixels
};

// Returns std::nullopt if there is no manifest, if it is damaged or incomplete, or if the conversion was resumed: its
// seconds then leave out the interrupted run. Thread-safe.
std::optional<ConversionCost> conversion_cost(const storage::DataRoot& root, spec::Split split,
                                              spec::DataFormat format = spec::DataFormat::tfrecord);

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

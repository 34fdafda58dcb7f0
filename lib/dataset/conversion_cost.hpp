// The cost of converting a split, as its manifest records it: figures relate it to the speed of the shards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "spec/trial_spec.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

struct ConversionCost {
  std::uint64_t images = 0;
  double seconds = 0;             // wall-clock time of the whole conversion
  std::uint64_t shard_bytes = 0;  // of all shards, or of the file of cached pixels
};

// Returns std::nullopt if there is no manifest, if it is damaged or incomplete, or if the conversion was resumed: its
// seconds then leave out what the interrupted run took. Thread-safe.
std::optional<ConversionCost> conversion_cost(const storage::DataRoot& root, spec::Split split,
                                              spec::DataFormat format = spec::DataFormat::tfrecord);

}  // namespace chexbench::dataset

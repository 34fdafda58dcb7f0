// What it took to convert a split, as its manifest tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "spec/experiment.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

struct ConversionCost {
  std::uint64_t images = 0;
  double seconds = 0;
  std::uint64_t shard_bytes = 0;
};

// Nothing where there is no manifest, it is damaged, or a conversion was resumed, whose seconds are not all of them.
std::optional<ConversionCost> conversion_cost(const storage::DataRoot& root, spec::Split split,
                                              spec::DataFormat format = spec::DataFormat::tfrecord);

}  // namespace chexbench::dataset

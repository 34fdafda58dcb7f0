#include "dataset/conversion_cost.hpp"

#include "formats/manifest.hpp"

namespace chexbench::dataset {

std::optional<ConversionCost> conversion_cost(const storage::DataRoot& root, spec::Split split,
                                              spec::DataFormat format) {
  const std::optional<formats::Manifest> manifest = formats::read_manifest(root, split, format);
  if (!manifest || !manifest->images || !manifest->shard_bytes) return {};
  if (manifest->seconds.value_or(0) <= 0 || manifest->shards_kept.value_or(1) != 0) return {};
  return ConversionCost{
      .images = *manifest->images, .seconds = *manifest->seconds, .shard_bytes = *manifest->shard_bytes};
}

}  // namespace chexbench::dataset

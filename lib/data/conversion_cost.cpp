#include "data/conversion_cost.hpp"

#include <string>

#include "data/convert.hpp"
#include "data/manifest_values.hpp"

namespace chexbench::data {

std::optional<ConversionCost> conversion_cost(const DataRoot& root, spec::Split split, spec::DataFormat format) {
  const std::string text = manifest_text(root, manifest_path(root.path, split, format));
  const auto images = number_after<std::uint64_t>(text, "images");
  const auto seconds = number_after<double>(text, "seconds");
  const auto bytes = number_after<std::uint64_t>(text, "shard_bytes");
  const auto kept = number_after<std::uint64_t>(text, "shards_kept");
  if (!images || !seconds || !bytes || kept.value_or(1) != 0 || *seconds <= 0) return {};
  return ConversionCost{.images = *images, .seconds = *seconds, .shard_bytes = *bytes};
}

}  // namespace chexbench::data

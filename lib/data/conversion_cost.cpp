#include "data/conversion_cost.hpp"

#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "core/errors.hpp"
#include "data/convert.hpp"

namespace chexbench::data {
namespace {

// The number behind a key of manifest_json(), whose keys are in no other place; nothing where it is not there.
template <typename Number>
std::optional<Number> number_after(std::string_view text, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + "\": ";
  const std::size_t at = text.find(quoted);
  if (at == std::string_view::npos) return {};
  Number number{};
  const char* const begin = text.data() + at + quoted.size();
  if (std::from_chars(begin, text.data() + text.size(), number).ec != std::errc{}) return {};
  return number;
}

// Empty where it cannot be read: the cost is then not known.
std::string manifest_text(const DataRoot& root, spec::Split split) {
  try {
    ByteBuffer buffer;
    const std::span<const std::byte> bytes = root.store->read(manifest_path(root.path, split), buffer);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  } catch (const DataError&) {
    return {};
  }
}

}  // namespace

std::optional<ConversionCost> conversion_cost(const DataRoot& root, spec::Split split) {
  const std::string text = manifest_text(root, split);
  const auto images = number_after<std::uint64_t>(text, "images");
  const auto seconds = number_after<double>(text, "seconds");
  const auto bytes = number_after<std::uint64_t>(text, "shard_bytes");
  const auto kept = number_after<std::uint64_t>(text, "shards_kept");
  if (!images || !seconds || !bytes || kept.value_or(1) != 0 || *seconds <= 0) return {};
  return ConversionCost{.images = *images, .seconds = *seconds, .shard_bytes = *bytes};
}

}  // namespace chexbench::data

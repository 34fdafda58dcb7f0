#include "data/conversion_cost.hpp"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

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

}  // namespace

std::optional<ConversionCost> conversion_cost(const std::string& root, spec::Split split) {
  std::ifstream file(manifest_path(root, split), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto images = number_after<std::uint64_t>(text, "images");
  const auto seconds = number_after<double>(text, "seconds");
  const auto bytes = number_after<std::uint64_t>(text, "shard_bytes");
  const auto kept = number_after<std::uint64_t>(text, "shards_kept");
  if (!images || !seconds || !bytes || kept.value_or(1) != 0 || *seconds <= 0) return {};
  return ConversionCost{.images = *images, .seconds = *seconds, .shard_bytes = *bytes};
}

}  // namespace chexbench::data

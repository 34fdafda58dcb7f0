#include "data/manifest_values.hpp"

#include "core/errors.hpp"
#include "data/file_bytes.hpp"

namespace chexbench::data {

std::string manifest_text(const DataRoot& root, const std::string& path) {
  try {
    ByteBuffer buffer;
    return std::string(as_text(root.store->read(path, buffer)));
  } catch (const DataError&) {
    return {};
  }
}

std::optional<std::string_view> value_after(std::string_view text, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + "\": ";
  const std::size_t at = text.find(quoted);
  return at == std::string_view::npos ? std::nullopt : std::optional(text.substr(at + quoted.size()));
}

std::optional<std::string> text_after(std::string_view text, std::string_view key) {
  const auto value = value_after(text, key);
  if (!value || !value->starts_with('"')) return {};
  const std::string_view rest = value->substr(1);
  const std::size_t end = rest.find_first_of("\"\\");
  if (end == std::string_view::npos || rest[end] == '\\') return {};
  return std::string(rest.substr(0, end));
}

}  // namespace chexbench::data

// Values of the small JSON files that chexbench itself writes beside a data set, without a JSON library.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "data/store/data_root.hpp"

namespace chexbench::data {

// Empty where it cannot be read: what it tells is then not known.
std::string manifest_text(const DataRoot& root, const std::string& path);

// What follows `"KEY": `, a key that the text has in no other place; nothing where it is not there.
std::optional<std::string_view> value_after(std::string_view text, std::string_view key);

template <typename Number>
std::optional<Number> number_after(std::string_view text, std::string_view key) {
  const auto value = value_after(text, key);
  Number number{};
  if (!value || std::from_chars(value->data(), value->data() + value->size(), number).ec != std::errc{}) return {};
  return number;
}

// Of a text without backslashes.
std::optional<std::string> text_after(std::string_view text, std::string_view key);

}  // namespace chexbench::data

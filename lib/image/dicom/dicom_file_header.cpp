#include "image/dicom/dicom_file_header.hpp"

#include <string_view>

namespace chexbench::image {
namespace {

constexpr std::uint32_t kSyntax = 0x00020010;

using Bytes = std::span<const std::uint8_t>;

std::uint32_t number(Bytes bytes, std::size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = count - 1; i >= 0; --i) value = value << 8 | bytes[at + static_cast<std::size_t>(i)];
  return value;
}

std::string_view text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

struct Element {
  std::uint32_t tag = 0;
  Bytes value;
};

// Takes the element at the beginning of `bytes`, in little-endian order. Returns std::nullopt if it is cut off.
std::optional<Element> take_element(Bytes& bytes) {
  if (bytes.size() < kDicomHeadBytes) return std::nullopt;
  Element element{.tag = number(bytes, 0, 2) << 16 | number(bytes, 2, 2)};
  const std::string_view type = text(bytes.subspan(4, 2));
  const bool is_long = type == "OB" || type == "OW" || type == "UN" || type == "SQ" || type == "UT";
  std::size_t begin = kDicomHeadBytes, length = number(bytes, 4, 4);
  if (has_explicit_type(bytes)) {
    if (is_long && bytes.size() < begin + 4) return std::nullopt;
    length = is_long ? number(bytes, begin, 4) : number(bytes, 6, 2);
    begin += is_long ? 4 : 0;
  }
  if (length > bytes.size() - begin) return std::nullopt;
  element.value = bytes.subspan(begin, length);
  bytes = bytes.subspan(begin + length);
  return element;
}

}  // namespace

bool has_explicit_type(Bytes element) {
  const auto is_capital = [](std::uint8_t c) { return c >= 'A' && c <= 'Z'; };
  return element.size() >= kDicomHeadBytes && is_capital(element[4]) && is_capital(element[5]);
}

std::optional<DicomFileHeader> read_file_header(Bytes file) {
  Bytes rest = file;
  const bool has_letters = file.size() >= kDicomPreambleBytes + kDicomLetters.size() &&
                           text(file.subspan(kDicomPreambleBytes, kDicomLetters.size())) == kDicomLetters;
  if (has_letters) rest = rest.subspan(kDicomPreambleBytes + kDicomLetters.size());
  DicomFileHeader header;
  bool has_elements = false;
  while (rest.size() >= 2 && number(rest, 0, 2) == 2) {
    const std::optional<Element> element = take_element(rest);
    if (!element) return std::nullopt;
    has_elements = true;
    if (element->tag != kSyntax) continue;
    header.syntax = text(element->value);
    header.syntax.erase(header.syntax.find_last_not_of(std::string_view("\0 ", 2)) + 1);
  }
  header.bytes = file.size() - rest.size();
  return has_elements ? std::optional(header) : std::nullopt;
}

}  // namespace chexbench::image

#include <algorithm>
#include <array>
#include <string_view>

#include "core/text.hpp"
#include "image/dicom/dicom_decoder.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::image {
namespace {

constexpr std::size_t kPreambleBytes = 128;  // which may hold anything
constexpr std::string_view kLetters = "DICM";

}  // namespace

bool is_dicom(std::span<const std::byte> bytes) {
  return bytes.size() >= kPreambleBytes + kLetters.size() &&
         storage::as_text(bytes.subspan(kPreambleBytes, kLetters.size())) == kLetters;
}

bool is_dicom_name(std::string_view name) {
  static constexpr std::array<std::string_view, 2> kEndings = {".dcm", ".dicom"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return name.size() >= ending.size() && lower_case(name.substr(name.size() - ending.size())) == ending;
  });
}

}  // namespace chexbench::image

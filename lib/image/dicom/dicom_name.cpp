#include <algorithm>
#include <array>
#include <string_view>

#include "core/text.hpp"
#include "image/dicom/dicom_decoder.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::image {
namespace {

// How the file's header begins if the preamble and the letters are missing.
constexpr std::string_view kGroup("\2\0", 2);
constexpr std::string_view kImplicitHeader("\2\0\0\0\4\0\0\0", 8);

}  // namespace

bool is_dicom(std::span<const std::byte> bytes) {
  constexpr std::size_t kTypeAt = 4;
  const std::string_view text = storage::as_text(bytes);
  if (bytes.size() < kDicomPreambleBytes + kDicomLetters.size()) return false;
  if (text.substr(kDicomPreambleBytes, kDicomLetters.size()) == kDicomLetters || text.starts_with(kImplicitHeader))
    return true;
  const std::string_view type = text.substr(kTypeAt, 2);
  return text.starts_with(kGroup) && (type == "UL" || type == "OB" || type == "UI");
}

bool is_dicom_name(std::string_view name) {
  static constexpr std::array<std::string_view, 2> kEndings = {".dcm", ".dicom"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return name.size() >= ending.size() && lower_case(name.substr(name.size() - ending.size())) == ending;
  });
}

}  // namespace chexbench::image

#include "image/png/png_chunks.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace chexbench::image {
namespace {

template <std::size_t kCount>
bool has(const std::array<std::string_view, kCount>& types, std::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace

bool is_left_out(std::string_view type) {
  static constexpr std::array<std::string_view, 13> kTypes = {"tEXt", "zTXt", "iTXt", "tIME", "pHYs", "oFFs", "sCAL",
                                                              "pCAL", "hIST", "sPLT", "acTL", "fcTL", "fdAT"};
  return has(kTypes, type);
}

bool describes_colors(std::string_view type) {
  static constexpr std::array<std::string_view, 8> kTypes = {"gAMA", "sRGB", "cHRM", "iCCP",
                                                             "sBIT", "cICP", "mDCV", "cLLI"};
  return has(kTypes, type);
}

bool changes_pixels(std::string_view type) { return type == "tRNS" || type == "eXIf"; }

// The data are a name, a zero, the method of compression (0) and a zlib stream (PNG specification, section 11.3.3.3). A
// profile names its color space in bytes 16 to 19 (ICC.1:2022, section 7.2).
bool is_gray_profile(std::span<const std::byte> data) {
  const auto name_end = std::find(data.begin(), data.end(), std::byte{0});
  if (data.end() - name_end < 3 || name_end[1] != std::byte{0}) return false;
  const std::span<const std::byte> stream(name_end + 2, data.end());
  std::array<unsigned char, 20> header{};
  z_stream inflater{};
  if (::inflateInit(&inflater) != Z_OK) return false;
  inflater.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(stream.data()));
  inflater.avail_in = static_cast<uInt>(std::min<std::size_t>(stream.size(), 1 << 16));
  inflater.next_out = header.data();
  inflater.avail_out = static_cast<uInt>(header.size());
  ::inflate(&inflater, Z_SYNC_FLUSH);
  const bool is_whole = inflater.avail_out == 0;
  ::inflateEnd(&inflater);
  return is_whole && std::string_view(reinterpret_cast<const char*>(header.data()) + 16, 4) == "GRAY";
}

}  // namespace chexbench::image

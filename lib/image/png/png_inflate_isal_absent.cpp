// Without ISA-L, zlib does the work, with the same results but more slowly.
#include <zlib.h>

#include "image/png/png_inflate.hpp"

namespace chexbench::image {

std::unique_ptr<Inflater> make_inflater() { return make_zlib_inflater(); }

std::uint32_t png_crc32(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace chexbench::image

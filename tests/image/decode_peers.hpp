// The PNG decoders of others, for decode_benchmark. Each is there if its library was found when this was configured.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace chexbench::image {

// Decodes PNGs to 8-bit gray on one thread, into memory that it keeps, and gives up the program if it cannot.
struct PeerDecoder {
  std::string name;     // with which the benchmark begins, such as "libpng"
  std::string version;  // as the library gives it
  std::function<void(std::span<const std::byte>)> decode;
};

std::vector<PeerDecoder> peer_decoders();

}  // namespace chexbench::image

// Other PNG decoders, for decode_benchmark. CMakeLists.txt compiles the file of each whose library was found.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace chexbench::image {

// Decodes PNGs to 8-bit gray on one thread, into memory that it keeps, and gives up the program if it cannot.
struct PeerDecoder {
  std::string name;     // in the names of benchmarks, such as "libpng"
  std::string version;  // as the library gives it
  std::function<void(std::span<const std::byte>)> decode;
};

// Adds a decoder before main() begins.
struct AddPeer {
  explicit AddPeer(PeerDecoder decoder);
};

const std::vector<PeerDecoder>& peer_decoders();

}  // namespace chexbench::image

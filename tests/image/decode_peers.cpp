#include "image/decode_peers.hpp"

#include <utility>

namespace chexbench::image {
namespace {

std::vector<PeerDecoder>& all() {
  static std::vector<PeerDecoder> decoders;
  return decoders;
}

}  // namespace

AddPeer::AddPeer(PeerDecoder decoder) { all().push_back(std::move(decoder)); }

const std::vector<PeerDecoder>& peer_decoders() { return all(); }

}  // namespace chexbench::image

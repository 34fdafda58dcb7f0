#include "comm/texts.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace chexbench::comm {
namespace {

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string broadcast_text(comm::Communicator& communicator, std::string text) {
  std::uint64_t size = text.size();
  communicator.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  text.resize(size);
  if (size > 0) communicator.broadcast(std::as_writable_bytes(std::span(text.data(), text.size())), 0);
  return text;
}

bool broadcast_flag(comm::Communicator& communicator, bool value) {
  auto byte = static_cast<std::byte>(value);
  communicator.broadcast(std::span(&byte, 1), 0);
  return byte != std::byte{0};
}

std::vector<std::string> all_gather(comm::Communicator& communicator, const std::string& text) {
  std::string packed;
  for (const std::string& part : communicator.gather(text, 0)) {
    append(packed, std::uint64_t{part.size()});
    packed += part;
  }
  packed = broadcast_text(communicator, std::move(packed));
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < packed.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, packed.data() + at, sizeof size);
    parts.push_back(packed.substr(at + sizeof size, size));
    at += sizeof size + size;
  }
  return parts;
}

}  // namespace chexbench::comm

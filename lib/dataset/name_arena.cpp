#include "dataset/name_arena.hpp"

#include <algorithm>

namespace chexbench::dataset {
namespace {

// Blocks double up to 1 MiB, so that a small set stays small and a large one leaves little of its last block unused.
constexpr std::size_t kFirstBlockBytes = 4096;
constexpr std::size_t kMostBlockBytes = std::size_t{1} << 20;

}  // namespace

std::string_view NameArena::keep(std::initializer_list<std::string_view> parts) {
  std::size_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size();
  char* const begin = room_for(bytes);
  char* end = begin;
  for (const std::string_view part : parts) end = std::ranges::copy(part, end).out;
  return {begin, bytes};
}

char* NameArena::room_for(std::size_t bytes) {
  if (bytes > bytes_ - used_ || blocks_.empty()) {
    bytes_ = std::max(bytes, std::clamp(bytes_ * 2, kFirstBlockBytes, kMostBlockBytes));
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes_));
    used_ = 0;
  }
  char* const room = blocks_.back().get() + used_;
  used_ += bytes;
  return room;
}

}  // namespace chexbench::dataset

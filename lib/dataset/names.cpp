#include "dataset/names.hpp"

#include <algorithm>
#include <numeric>

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

namespace {

struct Key {
  std::uint64_t head = 0;  // the first characters in which names differ
  std::uint32_t number = 0;
};

// Returns the first 8 characters as a number that compares as they do. Missing characters count as 0, so a shorter name
// never comes after a longer one that begins with it.
std::uint64_t head_of(std::string_view text) {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < sizeof head; ++i) {
    head = head << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return head;
}

std::size_t common_bytes(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

std::vector<std::uint32_t> order_of_names(std::size_t count,
                                          const std::function<std::string_view(std::size_t)>& name_of) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  if (count < 2) return order;
  const std::string_view first = name_of(0);
  std::string_view before = first;
  std::size_t common = first.size();
  bool sorted = true;
  for (std::size_t i = 1; i < count; ++i) {
    const std::string_view name = name_of(i);
    common = common_bytes(first.substr(0, common), name);
    sorted = sorted && before <= name;
    before = name;
  }
  if (sorted) return order;
  std::vector<Key> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys.push_back({head_of(name_of(i).substr(common)), static_cast<std::uint32_t>(i)});
  }
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    if (a.head != b.head) return a.head < b.head;
    const int compared = name_of(a.number).compare(name_of(b.number));
    return compared != 0 ? compared < 0 : a.number < b.number;
  });
  std::ranges::transform(keys, order.begin(), &Key::number);
  return order;
}

}  // namespace chexbench::dataset

#include "engine/arena.hpp"

#include <algorithm>
#include <numeric>

namespace chexbench::engine {
namespace {

struct Placed {
  std::size_t offset;
  const Lifetime* tensor;
};

bool meet(const Lifetime& a, const Lifetime& b) { return a.first_use <= b.last_use && b.first_use <= a.last_use; }

// Returns the lowest offset at which `tensor` overlaps none of `placed` in both time and space. `placed` is sorted by
// offset.
std::size_t lowest_offset(const Lifetime& tensor, const std::vector<Placed>& placed) {
  std::size_t offset = 0;
  for (const Placed& other : placed) {
    if (!meet(tensor, *other.tensor)) continue;
    if (offset + tensor.bytes <= other.offset) break;
    offset = std::max(offset, other.offset + other.tensor->bytes);
  }
  return offset;
}

}  // namespace

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes) {
  std::vector<std::size_t> by_size(lifetimes.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::ranges::stable_sort(by_size, [&](auto a, auto b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  ArenaPlan plan{.offsets = std::vector<std::size_t>(lifetimes.size()), .bytes = 0};
  std::vector<Placed> placed;
  for (const std::size_t i : by_size) {
    const std::size_t offset = lowest_offset(lifetimes[i], placed);
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + lifetimes[i].bytes);
    placed.insert(std::ranges::upper_bound(placed, offset, {}, &Placed::offset), {offset, &lifetimes[i]});
  }
  return plan;
}

}  // namespace chexbench::engine

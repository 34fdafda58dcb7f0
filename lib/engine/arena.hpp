// Where tensors lie in one piece of memory. Those whose lives don't meet share it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace chexbench::engine {

// A tensor's memory is its own from its first to its last use, both included. Times are steps of the caller's
// schedule.
struct Lifetime {
  std::size_t bytes = 0;
  int first_use = 0;
  int last_use = 0;
};

struct ArenaPlan {
  std::vector<std::size_t> offsets;  // in bytes, one a lifetime, in their order
  std::size_t bytes = 0;             // of the whole arena
};

// Largest first, each at the lowest offset that is free during all of its life: Pisarchyk and Lee, "Efficient memory
// management for deep neural net inference", 2020, greedy by size. Offsets are sums of the `bytes` given, so they are
// aligned where those are. The same input gives the same plan.
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes);

// The bytes alive at the busiest time: no plan needs less.
std::size_t arena_lower_bound(std::span<const Lifetime> lifetimes);

}  // namespace chexbench::engine

// Plans where tensors are placed in one block of memory. Tensors whose lifetimes do not overlap share addresses.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace chexbench::engine {

// A tensor owns its memory from its first to its last use, inclusive. Times are step numbers of the caller's schedule.
struct Lifetime {
  std::size_t bytes = 0;
  int first_use = 0;
  int last_use = 0;
};

struct ArenaPlan {
  std::vector<std::size_t> offsets;  // In bytes; one for each lifetime, in the same order.
  std::size_t bytes = 0;             // Size of the whole arena.
};

// Places the largest tensor first, and each at the lowest offset that is free during its whole lifetime ("greedy by
// size" in Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020). Offsets are sums of
// the given `bytes`, so they are aligned if all `bytes` are multiples of the alignment. The result is deterministic.
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes);

}  // namespace chexbench::engine

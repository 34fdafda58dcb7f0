// Which part of a call is computed again on the host: what takes all of it a device, takes a CPU minutes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/sweep/operands.hpp"

namespace chexbench::engine::cuda {

struct ItemRange {
  std::int64_t begin = 0, end = 0;
};

// Items and channels of a call that are computed together. Results by item are compared if `compares_items`, those by
// channel or of the whole call if `compares_sums`.
struct Selection {
  std::vector<ItemRange> items;
  int channel = -1;  // the only one, or -1 for all
  bool compares_items = true, compares_sums = true;

  std::int64_t count() const;  // of items
};

// Returns the selections with which a call is checked:
// - small kernels: everything;
// - elementwise kernels: about 65,536 values (at least 64 rows), all channels of rows that are spread evenly from the
//   first to the last, or runs of 64 elements of flat arrays;
// - pools: whole images, at least the first, the middle and the last;
// - sums over rows: what they write by row as above; and all rows of eight channels, one of each place in a vector of
//   eight, spread from the first to the last.
std::vector<Selection> selections(const KernelCall& call);

}  // namespace chexbench::engine::cuda

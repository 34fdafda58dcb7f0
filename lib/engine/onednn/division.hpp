// Divides the channel blocks and images of a tensor into pieces of work for threads.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/onednn/kernels.hpp"
#include "engine/onednn/parallel.hpp"

namespace chexbench::engine::onednn {

// A division into blocks * splits pieces: one channel block each, of all images or of a run of them.
struct Division {
  int blocks = 1;
  int images = 1;
  int splits = 1;  // number of runs of images that each block is cut into

  // Cuts images only if the blocks alone would not keep all threads busy: with one thread per block, the second pass
  // over a block finds it in that thread's cache.
  static Division of(int blocks, int images) {
    const int threads = parallel_threads();
    if (blocks % threads == 0 || blocks >= 4 * threads) return {blocks, images, 1};
    return {blocks, images, std::min(images, (4 * threads + blocks - 1) / blocks)};
  }
  // The piece with that index, 0 <= index < count().
  Work work(int index) const {
    const int split = index % splits;
    return {index / splits, images * split / splits, images * (split + 1) / splits};
  }
  int count() const { return blocks * splits; }
};

// Calls body(Work) once for each piece of the tensor, on all threads. The body must not throw.
template <typename Body>
void for_all(const Division& division, const Body& body) {
  parallel_for(division.count(), [&](int i) { body(division.work(i)); });
}

// Two sums for each channel of a block. Lanes past the block's size stay 0.
struct ChannelSums {
  double first[kMaxBlock] = {};
  double second[kMaxBlock] = {};
};

// Reduces over the pixels and images of each channel, then makes a second pass: calls sum(Work, ChannelSums&), which
// adds to the sums, for each piece; then combine(block, ChannelSums) once for each block; then apply(Work) for each
// piece. Each piece's apply() comes after its block's combine(); other blocks may be at any stage then. Partial sums
// are added in the order of images, so the result depends on the division but not on which thread does what. The
// functions must not throw.
template <typename Sum, typename Combine, typename Apply>
void sum_then_apply(const Division& division, const Sum& sum, const Combine& combine, const Apply& apply) {
  if (division.splits == 1) {
    for_all(division, [&](Work work) {
      ChannelSums sums;
      sum(work, sums);
      combine(work.block, sums);
      apply(work);
    });
    return;
  }
  std::vector<ChannelSums> partial(static_cast<std::size_t>(division.count()));
  parallel_for(division.count(), [&](int i) { sum(division.work(i), partial[static_cast<std::size_t>(i)]); });
  parallel_for(division.blocks, [&](int block) {
    ChannelSums total;
    for (int split = 0; split < division.splits; ++split) {
      const ChannelSums& part = partial[static_cast<std::size_t>(block * division.splits + split)];
      for (int lane = 0; lane < kMaxBlock; ++lane) {
        total.first[lane] += part.first[lane];
        total.second[lane] += part.second[lane];
      }
    }
    combine(block, total);
  });
  for_all(division, apply);
}

}  // namespace chexbench::engine::onednn

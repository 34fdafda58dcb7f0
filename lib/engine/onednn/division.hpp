// How the channel blocks of a tensor are shared out among threads.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/onednn/kernels.hpp"
#include "engine/onednn/parallel.hpp"

namespace chexbench::engine {

struct Division {
  int blocks = 1;
  int images = 1;
  int splits = 1;  // runs of images that each block is cut into

  // Blocks alone where they keep all threads busy: then a block's second pass finds it in that thread's cache.
  static Division of(int blocks, int images) {
    const int threads = parallel_threads();
    if (blocks % threads == 0 || blocks >= 4 * threads) return {blocks, images, 1};
    return {blocks, images, std::min(images, (4 * threads + blocks - 1) / blocks)};
  }
  Work work(int index) const {
    const int split = index % splits;
    return {index / splits, images * split / splits, images * (split + 1) / splits};
  }
  int count() const { return blocks * splits; }
};

// Calls body(Work) for the whole tensor.
template <typename Body>
void for_all(const Division& division, const Body& body) {
  parallel_for(division.count(), [&](int i) { body(division.work(i)); });
}

// Two sums of each channel.
struct ChannelSums {
  double first[kMaxBlock] = {};
  double second[kMaxBlock] = {};
};

// sum(Work, ChannelSums&) over the whole tensor, then combine(block, ChannelSums) once a block, then apply(Work) over
// the whole tensor. The result depends on the division, not on which thread does what.
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

}  // namespace chexbench::engine

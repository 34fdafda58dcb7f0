// Spreads work over the engine's threads. They are the OpenMP team that oneDNN uses, too, so that each rank has only
// one set of threads.
#pragma once

#include <omp.h>

#include <algorithm>
#include <vector>

#include "engine/onednn/kernels.hpp"

namespace chexbench::engine::onednn {

// Calls body(i) once for each 0 <= i < count, on any thread and in any order; returns when all calls have returned.
// The body must not throw.
template <typename Body>
void parallel_for(int count, const Body& body) {
#pragma omp parallel for schedule(dynamic) if (count > 1)
  for (int i = 0; i < count; ++i) body(i);
}

// The number of threads that parallel_for() and oneDNN use when they are called from this thread.
inline int parallel_threads() { return omp_get_max_threads(); }
// Sets that number for the calling thread; `threads` must be at least 1.
inline void set_parallel_threads(int threads) { omp_set_num_threads(threads); }

// During its lifetime, the calling thread has one thread.
class OneThread {
 public:
  OneThread() : threads_(parallel_threads()) { set_parallel_threads(1); }
  ~OneThread() { set_parallel_threads(threads_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int threads_;
};

// Divides the channel blocks and images of a tensor into pieces of work for threads: one channel block each, of all
// images or of a run of them, or in NHWC a tile of blocks of one image.
struct Division {
  int blocks = 1;
  int images = 1;
  int splits = 1;  // number of runs of images that each block is cut into
  int tile = 1;    // blocks of a piece

  // Blocked layouts: cuts images only if the blocks alone would not keep all threads busy, because with one thread per
  // block the second pass over a block finds it in that thread's cache.
  // NHWC: a single block would take a part of a cache line of each pixel, which is up to ten times slower.
  static Division of(int blocks, int images, Layout layout) {
    const int threads = parallel_threads();
    if (layout == Layout::channels_last) return {blocks, images, images, kMaxTile};
    if (blocks % threads == 0 || blocks >= 4 * threads) return {blocks, images, 1};
    return {blocks, images, std::min(images, (4 * threads + blocks - 1) / blocks)};
  }
  int tiles() const { return (blocks + tile - 1) / tile; }
  int count() const { return tiles() * splits; }
  // The piece with that index, 0 <= index < count(). The pieces of a run of images follow one another.
  Work work(int index) const {
    const int split = index / tiles(), block = index % tiles() * tile;
    return {block, images * split / splits, images * (split + 1) / splits, std::min(tile, blocks - block)};
  }
};

// Calls body(Work) once for each piece of the tensor, on all threads. The body must not throw.
template <typename Body>
void for_all(const Division& division, const Body& body) {
  parallel_for(division.count(), [&](int i) { body(division.work(i)); });
}

// Does the same for kernels that take one block at a time.
template <typename Body>
void for_all_blocks(const Division& division, const Body& body) {
  for_all(division, [&](Work work) {
    for (int i = 0; i < work.blocks; ++i) body(Work{work.block + i, work.first_image, work.last_image});
  });
}

// Two sums for each channel of a block. Lanes past the block's size stay 0.
struct ChannelSums {
  double first[kMaxBlock] = {};
  double second[kMaxBlock] = {};
};
static_assert(sizeof(ChannelSums) == kSumStride * sizeof(double), "kernels step over the sums of a tile");

// Reduces over the pixels and images of each channel, then makes a second pass: calls sum(Work, ChannelSums&), which
// adds to the sums of the piece's blocks, for each piece; then combine(block, ChannelSums) once for each block; then
// apply(Work) for each piece. Each piece's apply() comes after its blocks' combine(); other blocks may be at any stage
// then. Partial sums are added in the order of images, so the result depends on the division but not on how pieces are
// assigned to threads. The functions must not throw.
template <typename Sum, typename Combine, typename Apply>
void sum_then_apply(const Division& division, const Sum& sum, const Combine& combine, const Apply& apply) {
  if (division.splits == 1 && division.tile == 1) {
    for_all(division, [&](Work work) {
      ChannelSums sums;
      sum(work, sums);
      combine(work.block, sums);
      apply(work);
    });
    return;
  }
  const auto blocks = static_cast<std::size_t>(division.blocks);
  std::vector<ChannelSums> partial(blocks * static_cast<std::size_t>(division.splits));
  parallel_for(division.count(), [&](int i) {
    const Work work = division.work(i);
    const auto split = static_cast<std::size_t>(i / division.tiles());
    sum(work, partial[split * blocks + static_cast<std::size_t>(work.block)]);
  });
  parallel_for(division.blocks, [&](int block) {
    ChannelSums total;
    for (auto i = static_cast<std::size_t>(block); i < partial.size(); i += blocks) {
      for (int lane = 0; lane < kMaxBlock; ++lane) {
        total.first[lane] += partial[i].first[lane];
        total.second[lane] += partial[i].second[lane];
      }
    }
    combine(block, total);
  });
  for_all(division, apply);
}

}  // namespace chexbench::engine::onednn

// Runs a block of a reduction with a thread for each of its threads.
#pragma once

#include <thread>
#include <vector>

#include "engine/cuda/kernels/reduction.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename R, typename Barrier>
void run_block(const R& reduction, int block, const Barrier& barrier) {
  typename R::Scratch scratch;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < R::kThreads; ++thread)
    threads.emplace_back([&, thread] { run_thread(reduction, block, thread, scratch, barrier); });
}

}  // namespace chexbench::engine::cuda::kernels

// Runs blocks of reductions with a thread for each of their threads.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "engine/cuda/kernels/channel_sums.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename R, typename Barrier>
void run_block(const R& reduction, int block, const Barrier& barrier) {
  typename R::Scratch scratch;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < R::kThreads; ++thread)
    threads.emplace_back([&, thread] { run_thread(reduction, block, thread, scratch, barrier); });
}

// POSIX's barrier and not std::barrier: those of libstdc++ share counters, which make ThreadSanitizer consider the
// threads of different blocks ordered.
class BlockThreads {
 public:
  BlockThreads() { pthread_barrier_init(&barrier_, nullptr, kThreads); }
  ~BlockThreads() { pthread_barrier_destroy(&barrier_); }
  BlockThreads(const BlockThreads&) = delete;
  BlockThreads& operator=(const BlockThreads&) = delete;

  void arrive_and_wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

// Draws tickets as on a device. A memory order weaker than acquire and release simulates missing fences.
template <std::memory_order kOrder>
struct DrawTicket {
  unsigned operator()(unsigned* ticket) const { return std::atomic_ref(*ticket).fetch_add(1, kOrder); }
};

// Waits for the threads of a block, and draws tickets among blocks.
template <typename Draw>
struct ThreadSync {
  BlockThreads& all;
  int of_block, of_thread;

  void operator()() const { all.arrive_and_wait(); }
  unsigned draw(unsigned* ticket) const { return Draw{}(ticket); }
  int block() const { return of_block; }
  int thread() const { return of_thread; }
};

// Runs the blocks of sums on at most that many multiprocessors, each taking one block after another. Only the tickets
// order the blocks of different multiprocessors.
template <typename Draw, typename Op, typename Finish>
void run_concurrently(const ChannelSums<Op, Finish>& sums, int blocks, int multiprocessors) {
  struct Multiprocessor {
    typename ChannelSums<Op, Finish>::Scratch scratch;
    BlockThreads all;
  };
  multiprocessors = std::min(multiprocessors, blocks);
  std::vector<std::unique_ptr<Multiprocessor>> running;
  for (int i = 0; i < multiprocessors; ++i) running.push_back(std::make_unique<Multiprocessor>());
  std::vector<std::jthread> threads;
  for (int i = 0; i < multiprocessors * kThreads; ++i) {
    threads.emplace_back([&, first = i / kThreads, thread = i % kThreads] {
      Multiprocessor& on = *running[static_cast<std::size_t>(first)];
      for (int block = first; block < blocks; block += multiprocessors) {
        run_sums_thread(sums, block, thread, on.scratch, ThreadSync<Draw>{on.all, block, thread});
        on.all.arrive_and_wait();
      }
    });
  }
}

}  // namespace chexbench::engine::cuda::kernels

// The threads of ops, and the means to stop them.
#pragma once

#include <cstddef>
#include <functional>
#include <latch>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/thread_pool.hpp"

namespace chexbench::pipeline {

// A stop source that is also stopped when `outer` is. An iterator with threads passes its token to the iterators before
// it, so that it can stop them without stopping the whole pipeline. Thread-safe.
class ChainedStop {
 public:
  explicit ChainedStop(const std::stop_token& outer) : link_(outer, Forward{&own_}) {}
  std::stop_token token() const { return own_.get_token(); }
  void request_stop() { own_.request_stop(); }

 private:
  struct Forward {
    std::stop_source* source;
    void operator()() const { source->request_stop(); }
  };
  std::stop_source own_;
  std::stop_callback<Forward> link_;
};

// Starts a thread called `name`, bound to `cores` (not bound if empty), that runs `body`, which must not throw.
// @throws std::system_error if the system does not start a thread
std::jthread start_thread(const std::string& name, const std::vector<int>& cores, std::function<void()> body);

// Returns a pool of `threads` threads called NAME-0, NAME-1, ..., each bound to the whole set `cores`.
// @throws std::system_error if the system does not start a thread
std::unique_ptr<ThreadPool> make_worker_pool(const std::string& name, const std::vector<int>& cores,
                                             std::size_t threads);

// Submits `loop(0)`, ..., `loop(workers - 1)` to a pool as one task each. The destructor waits until all of them have
// returned; the caller must make them end. `loop` must not throw, and the pool needs at least `workers` threads if the
// loops depend on each other.
class Crew {
 public:
  Crew(ThreadPool& pool, std::size_t workers, std::function<void(std::size_t)> loop);
  ~Crew() { done_->wait(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

 private:
  const std::function<void(std::size_t)> loop_;
  const std::shared_ptr<std::latch> done_;  // shared: a worker may still be inside count_down() when wait() returns
};

}  // namespace chexbench::pipeline

// Threads of ops, and stopping them.
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

// A stop of one's own that also stops when `outer` does: what an iterator with threads hands to the ones before it.
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

// A named thread bound to `cores`. `body` must not throw.
std::jthread start_thread(const std::string& name, const std::vector<int>& cores, std::function<void()> body);

// A pool of `threads` named threads bound to `cores`.
std::unique_ptr<ThreadPool> make_worker_pool(const std::string& name, const std::vector<int>& cores,
                                             std::size_t threads);

// Runs `loop(worker)` once on each of several workers of a pool. The destructor waits for all of them: what makes the
// loops end is the caller's business. `loop` must not throw.
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

// The threads of ops, and how to stop them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/parallel.hpp"
#include "pipeline/op_stats.hpp"

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

// Lets the workers of a parallel op take input one at a time, and none of them while the op is full.

// Thread-safe. Only one worker at a time is inside, because the order in which workers take input determines the order
// of the output.
class Turnstile {
 public:
  // Workers may enter while fewer than `capacity` units are taken and not yet released. Waits are booked to `stats`,
  // which must outlive this object.
  Turnstile(std::size_t capacity, OpStats& stats) : capacity_(capacity), stats_(stats) {}

  // For a worker. Waits for its turn and for room; the time is booked as blocked_output if the op is full when the wait
  // begins, else as blocked_input. Returns false at the end of the input and once stopped. After true, the worker must
  // call leave().
  bool enter(const std::stop_token& stop);
  // For a worker. Reports that it has taken `taken` units, and whether the input has ended.
  void leave(std::size_t taken, bool ended);
  // For the consumer. Frees `units` units.
  void release(std::size_t units);

 private:
  bool has_room() const { return used_ < capacity_; }

  const std::size_t capacity_;
  OpStats& stats_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t used_ = 0;
  bool inside_ = false;
  bool ended_ = false;
};

// A sleep that a stop request ends early.

// Returns after `seconds`, or as soon as a stop is requested. Returns at once if `seconds` is 0 or negative.
// Thread-safe.
void pause(double seconds, const std::stop_token& stop);

}  // namespace chexbench::pipeline

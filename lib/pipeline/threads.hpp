// The threads of ops, how to stop them, and a queue between two of them.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
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

// A sleep: returns after `seconds`, or as soon as a stop is requested. Returns at once if `seconds` is 0 or negative.
// Thread-safe.
void pause(double seconds, const std::stop_token& stop);

// When a producer that found the queue full resumes.
enum class Refill {
  at_once,  // as soon as there is room
  at_half   // when no more than half of the capacity is taken, so that it is woken less often
};

// A bounded queue between one producer thread and one consumer thread. Each wait ends when its stop token is stopped.
// Holds at most capacity() elements, if the producer calls wait_for_room() before each push(). The consumer gets all of
// them before it sees the end or the error that follows them.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity, Refill refill = Refill::at_once) : capacity_(capacity), refill_(refill) {}

  // For the producer. Waits for room; returns false once stopped.
  bool wait_for_room(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (elements_.size() < capacity_) return !stop.stop_requested();
    return changed_.wait(lock, stop, [this] { return may_refill(); }) && !stop.stop_requested();
  }
  // For the producer. Appends an element without waiting, even beyond the capacity.
  void push(T element) {
    {
      const std::lock_guard lock(mutex_);
      elements_.push_back(std::move(element));
    }
    changed_.notify_one();
  }
  // For the producer. Marks the end; pop() throws `error`, if there is one, after the last element.
  void close(std::exception_ptr error = {}) {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      error_ = std::move(error);
    }
    changed_.notify_one();
  }

  // For the consumer. Waits for the next element. Returns std::nullopt at the end and once stopped.
  // @throws the error that was passed to close(), once
  std::optional<T> pop(const std::stop_token& stop) {
    std::optional<T> element;
    bool wakes_producer = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !elements_.empty() || closed_; });
      if (stop.stop_requested()) return {};
      if (elements_.empty()) {
        if (error_) std::rethrow_exception(std::exchange(error_, {}));
        return {};
      }
      element.emplace(std::move(elements_.front()));
      elements_.pop_front();
      wakes_producer = may_refill();
    }
    if (wakes_producer) changed_.notify_one();
    return element;
  }

  // For the consumer. Returns the next element without waiting, or std::nullopt if the queue is empty.
  std::optional<T> pop_now() {
    const std::lock_guard lock(mutex_);
    if (elements_.empty()) return {};
    std::optional<T> element(std::move(elements_.front()));
    elements_.pop_front();
    return element;
  }

  // Whether pop() would return without waiting.
  bool ready() const {
    const std::lock_guard lock(mutex_);
    return !elements_.empty() || closed_;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return elements_.size();
  }
  std::size_t capacity() const {
    const std::lock_guard lock(mutex_);
    return capacity_;
  }
  // Raises the capacity; never lowers it.
  void grow(std::size_t capacity) {
    {
      const std::lock_guard lock(mutex_);
      capacity_ = std::max(capacity_, capacity);
    }
    changed_.notify_one();
  }

 private:
  // Whether a producer that waits may go on; the mutex is locked.
  bool may_refill() const {
    return elements_.size() < capacity_ && (refill_ == Refill::at_once || elements_.size() <= capacity_ / 2);
  }

  mutable std::mutex mutex_;
  // One condition variable serves both sides: with one thread on each, at most one of them waits unnotified at a time,
  // because the queue is never both empty and too full to be refilled.
  std::condition_variable_any changed_;
  std::deque<T> elements_;
  std::size_t capacity_;
  const Refill refill_;
  bool closed_ = false;
  std::exception_ptr error_;
};

// Fills the queue until take() returns std::nullopt or `stop` is requested, and closes it: with the error if take()
// throws one. Calls take() only when the queue has room, and books waits for room to `stats`.
template <typename T, typename Take>
void fill_ahead(OpStats& stats, BoundedQueue<T>& queue, const std::stop_token& stop, const Take& take) {
  const auto wait_for_room = [&] {
    const TimeScope wait(stats, TimeScope::Book::blocked_output);
    return queue.wait_for_room(stop);
  };
  try {
    while (wait_for_room()) {
      std::optional<T> element = take();
      if (!element) break;
      queue.push(std::move(*element));
    }
    queue.close();
  } catch (...) {
    queue.close(std::current_exception());
  }
}

}  // namespace chexbench::pipeline

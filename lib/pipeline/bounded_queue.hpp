// A bounded queue between one producer thread and one consumer thread. Each wait ends when its stop token is stopped.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace chexbench::pipeline {

// When a producer that found the queue full resumes.
enum class Refill {
  at_once,  // as soon as there is room
  at_half   // when no more than half of the capacity is taken, so that it is woken less often
};

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

}  // namespace chexbench::pipeline

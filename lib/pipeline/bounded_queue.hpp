// A queue between one producer thread and one consumer thread.
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

// Holds at most capacity() elements, all of which the consumer gets before the end or the error behind them.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  // Producer: waits for room. False once stopped.
  bool wait_for_room(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [this] { return elements_.size() < capacity_; }) && !stop.stop_requested();
  }
  // Producer: does not wait.
  void push(T element) {
    {
      const std::lock_guard lock(mutex_);
      elements_.push_back(std::move(element));
    }
    changed_.notify_one();
  }
  // Producer: nothing more will come; `error` is thrown behind the last element.
  void close(std::exception_ptr error = {}) {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      error_ = std::move(error);
    }
    changed_.notify_one();
  }

  // Consumer: the next element; waits for it. Nothing at the end or once stopped. @throws what close() was given
  std::optional<T> pop(const std::stop_token& stop) {
    std::optional<T> element;
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
    }
    changed_.notify_one();
    return element;
  }

  // Consumer: an element that is there already.
  std::optional<T> pop_now() {
    const std::lock_guard lock(mutex_);
    if (elements_.empty()) return {};
    std::optional<T> element(std::move(elements_.front()));
    elements_.pop_front();
    return element;
  }

  // An element is there, or the end is.
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
  void grow(std::size_t capacity) {
    {
      const std::lock_guard lock(mutex_);
      capacity_ = std::max(capacity_, capacity);
    }
    changed_.notify_one();
  }

 private:
  mutable std::mutex mutex_;
  // One for both sides: with one thread each, at most one of them can be waiting at a time (empty or full, never both).
  std::condition_variable_any changed_;
  std::deque<T> elements_;
  std::size_t capacity_;
  bool closed_ = false;
  std::exception_ptr error_;
};

}  // namespace chexbench::pipeline

// Takes the workers of a parallel op through its input one at a time, and none while the op is full.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>

#include "pipeline/op_stats.hpp"

namespace chexbench::pipeline {

// Thread-safe. One at a time because the order in which input is taken is what makes the output's order deterministic.
class Turnstile {
 public:
  // At most `capacity` units may be taken and not yet released.
  Turnstile(std::size_t capacity, OpStats& stats) : capacity_(capacity), stats_(stats) {}

  // Worker: waits for its turn and for room, booked as blocked on input or output. False at the end or once stopped;
  // after true, leave() must follow.
  bool enter(const std::stop_token& stop);
  // Worker: `taken` units more are in use. `ended`: the input has no more.
  void leave(std::size_t taken, bool ended);
  // Consumer: `units` are free again.
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

}  // namespace chexbench::pipeline

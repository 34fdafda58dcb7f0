// Lets the workers of a parallel op take input one at a time, and none of them while the op is full.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>

#include "pipeline/op_stats.hpp"

namespace chexbench::pipeline {

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

}  // namespace chexbench::pipeline

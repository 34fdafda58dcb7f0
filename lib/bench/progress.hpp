// Shows people at a terminal how far a run is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/status_line.hpp"

namespace chexbench::bench {

// A status line with the trial, the repeat and the step. Not thread-safe.
class Progress {
 public:
  explicit Progress(bool shown) : line_(shown) {}

  // Sets what is measured from now on: trial `number` (from 1) of `total`, and its repeat (from 0) of `repeats`.
  void begin(std::size_t number, std::size_t total, const std::string& trial, int repeat, int repeats);
  // Shows that `step` (from 0) is done.
  void step(std::int64_t step, std::int64_t total_steps);

 private:
  StatusLine line_;
  std::string what_;
};

}  // namespace chexbench::bench

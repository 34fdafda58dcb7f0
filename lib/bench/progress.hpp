// How far a run is, for people at a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/status_line.hpp"

namespace chexbench::bench {

// Used by one thread.
class Progress {
 public:
  explicit Progress(bool shown) : line_(shown) {}

  // What is measured from now on: trial `number` of `total`.
  void begin(std::size_t number, std::size_t total, const std::string& trial, int repeat, int repeats);
  void step(std::int64_t step, std::int64_t total_steps);

 private:
  StatusLine line_;
  std::string what_;
};

}  // namespace chexbench::bench

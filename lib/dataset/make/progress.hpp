// How far a long job over many files is, for a person at a terminal. In a pipe or a log file it stays silent.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "core/status_line.hpp"

namespace chexbench::dataset {

// Shows "converting 128 / 512 images" until it is destroyed. Thread-safe.
class Progress {
 public:
  Progress(std::string action, std::string unit, std::size_t total);
  void add(std::size_t done = 1);

 private:
  const std::string action_;
  const std::string unit_;
  const std::size_t total_;
  std::atomic<std::size_t> done_ = 0;
  StatusLine line_;
};

}  // namespace chexbench::dataset

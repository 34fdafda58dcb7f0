// Shows a person at a terminal how far a long job over many files is. If stderr is not a terminal, it shows nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "core/terminal.hpp"

namespace chexbench::dataset {

// Shows a line such as "converting 128 / 512 images" on stderr until it is destroyed. Thread-safe.
class Progress {
 public:
  // For the line above, the arguments are "converting", "images" and 512.
  Progress(std::string action, std::string unit, std::size_t total);
  // Adds to the number of items that are done.
  void add(std::size_t done = 1);

 private:
  const std::string action_;
  const std::string unit_;
  const std::size_t total_;
  std::atomic<std::size_t> done_ = 0;
  StatusLine line_;
};

}  // namespace chexbench::dataset

// A line that tells a person at a terminal how far a long job is. In a pipe or a log file it stays silent.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace chexbench::data {

// Writes to stderr, at most ten times a second, only where that is a terminal. Thread-safe.
class Progress {
 public:
  // "converting 128 / 512 images"
  Progress(std::string action, std::string unit, std::size_t total);
  // Clears the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void add(std::size_t done = 1);

 private:
  const std::string action_;
  const std::string unit_;
  const std::size_t total_;
  const bool shown_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  double last_s_ = 0;
};

}  // namespace chexbench::data

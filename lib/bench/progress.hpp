// The progress line of a run, for people at a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace chexbench::bench {

// Writes one line to stderr that replaces itself, at most ten times a second, and removes it when destroyed. Does
// nothing when not shown. Used by one thread.
class Progress {
 public:
  explicit Progress(bool shown) : shown_(shown) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What is measured from now on: trial `number` of `total`.
  void begin(std::size_t number, std::size_t total, const std::string& trial, int repeat, int repeats);
  void step(int step, int total_steps);
  void clear();

 private:
  bool shown_;
  std::string what_;
  double last_shown_s_ = 0;
};

}  // namespace chexbench::bench

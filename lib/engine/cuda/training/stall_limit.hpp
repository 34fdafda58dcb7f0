// How long a rank waits for its device before it takes the step for stalled.
#pragma once

#include <cstddef>
#include <vector>

namespace chexbench::engine::cuda {

// NCCL does not notice that a rank of the same host has died or stalled (NVIDIA/nccl#279): the others' kernels wait for
// ever. Not thread-safe.
class StallLimit {
 public:
  // Adds the time of a finished step, in seconds.
  void add(double step_s);
  // Returns the larger of 60 s and 50 median steps; 600 s before the first step, for which other ranks may still be
  // timing convolutions.
  double seconds() const;

 private:
  std::vector<double> steps_s_;  // the last kRemembered
  std::size_t next_ = 0;
};

}  // namespace chexbench::engine::cuda

// How long a rank waits for its device before it considers the step stalled.
#pragma once

#include <cstddef>
#include <vector>

namespace chexbench::engine::cuda {

// NCCL does not notice that a rank of the same host has died or stalled (NVIDIA/nccl#279): the others' kernels wait for
// ever. Not thread-safe.
class StallLimit {
 public:
  // `least_s` is the least limit, in seconds (comm.stall_limit_s).
  explicit StallLimit(double least_s) : least_s_(least_s) {}

  // Adds the time of a finished step, in seconds.
  void add(double step_s);
  // Returns the larger of the least limit and 50 median steps; ten times the least limit before the first step, for
  // which other ranks may still be timing convolutions.
  double seconds() const;

 private:
  const double least_s_;
  std::vector<double> steps_s_;  // the last kRemembered
  std::size_t next_ = 0;
};

}  // namespace chexbench::engine::cuda

// How the time of a step was spent, and how long a step may take before it counts as stalled.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/step_timings.hpp"

namespace chexbench::engine::cuda {

// When the device passed each point of a step, in seconds since the end of the step before. The upload overlaps that
// earlier step, so its times may be negative.
struct StepMarks {
  double upload_begin_s = 0;  // the batch has come from the pipeline
  double upload_end_s = 0;
  double begin_s = 0;        // forward begins with the conversion of the images
  double forward_end_s = 0;  // the loss is computed, too
  double backward_end_s = 0;
  double reduced_s = 0;  // all gradients are averaged over the ranks
  double end_s = 0;
};

// Divides the time of a step. Before begin_s the device was idle: first because no batch had arrived (wait), then
// during the copy (upload), and for the rest because of the host or the driver (other). Fills the wall time and its
// parts, which sum to the wall time; end_s, loss, images and communication_busy_s are left to the caller.
measure::StepTimings timings_of(const StepMarks& marks);

// How long a rank waits for its device before it considers the step stalled. NCCL does not notice that a rank of the
// same host has died or stalled (NVIDIA/nccl#279): the others' kernels wait for ever. Not thread-safe.
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

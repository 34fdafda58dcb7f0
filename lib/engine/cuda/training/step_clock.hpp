// Computes from the events of a step how its time was spent.
#pragma once

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

}  // namespace chexbench::engine::cuda

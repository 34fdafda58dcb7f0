// From the events of a step to where its time went.
#pragma once

#include "measure/step_timings.hpp"

namespace chexbench::engine::cuda {

// When the device passed each place, in seconds since the end of the step before. The upload runs beside that step, so
// its times may be negative.
struct StepMarks {
  double upload_begin_s = 0;  // the batch had come
  double upload_end_s = 0;
  double begin_s = 0;
  double forward_end_s = 0;  // the loss too
  double backward_end_s = 0;
  double reduced_s = 0;
  double end_s = 0;
};

// Before begin_s the device was idle: first as no batch was there (wait), then for the copy (upload), and for the rest
// because the host or the driver took its time (other). Wall time, parts and their sum are filled; end_s, loss and
// images are the caller's.
measure::StepTimings timings_of(const StepMarks& marks);

}  // namespace chexbench::engine::cuda

#include "engine/cuda/training/step_clock.hpp"

#include <algorithm>

namespace chexbench::engine::cuda {

measure::StepTimings timings_of(const StepMarks& marks) {
  measure::StepTimings timings;
  timings.wall_s = marks.end_s;
  timings.wait_s = std::clamp(marks.upload_begin_s, 0.0, std::max(marks.begin_s, 0.0));
  const double uploaded_s = std::clamp(marks.upload_end_s, timings.wait_s, std::max(marks.begin_s, timings.wait_s));
  timings.upload_s = uploaded_s - timings.wait_s;
  timings.forward_s = marks.forward_end_s - marks.begin_s;
  timings.backward_s = marks.backward_end_s - marks.forward_end_s;
  timings.compute_s = timings.forward_s + timings.backward_s;
  timings.exposed_communication_s = marks.reduced_s - marks.backward_end_s;
  timings.update_s = marks.end_s - marks.reduced_s;
  timings.set_rest();
  return timings;
}

}  // namespace chexbench::engine::cuda

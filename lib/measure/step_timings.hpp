// The timings of one training step. An engine fills them, the report writes them.
#pragma once

#include <algorithm>
#include <array>

namespace chexbench::measure {

// Divides one step's wall time, in seconds, from the end of the previous step to the end of this one. The parts from
// wait_s to other_s sum to wall_s exactly, because other_s is defined as the rest.
struct StepTimings {
  double wall_s = 0;
  double wait_s = 0;                   // the device was idle because no batch had arrived
  double upload_s = 0;                 // copy from host to device, and conversion of layout or type
  double compute_s = 0;                // forward + backward
  double exposed_communication_s = 0;  // waiting for the reducer after backward
  double update_s = 0;                 // optimizer
  double other_s = 0;
  double forward_s = 0;             // part of compute_s
  double backward_s = 0;            // part of compute_s
  double communication_busy_s = 0;  // total time of communication, exposed or hidden behind backward
  double end_s = 0;                 // now_s() when the step ended on the device
  double loss = 0;                  // mean over the batch (engine::LossRule); NaN if nothing is computed
  int images = 0;                   // valid images of the batch

  // Sets other_s from the other parts. If rounding made these longer than wall_s, wall_s becomes their sum.
  void set_rest() {
    const double parts_s = wait_s + upload_s + compute_s + exposed_communication_s + update_s;
    wall_s = std::max(wall_s, parts_s);
    other_s = wall_s - parts_s;
  }
};

// The members that are durations, which may be summed over steps, ranks, or the batches of a step.
inline constexpr std::array kStepDurations{&StepTimings::wall_s,
                                           &StepTimings::wait_s,
                                           &StepTimings::upload_s,
                                           &StepTimings::compute_s,
                                           &StepTimings::exposed_communication_s,
                                           &StepTimings::update_s,
                                           &StepTimings::other_s,
                                           &StepTimings::forward_s,
                                           &StepTimings::backward_s,
                                           &StepTimings::communication_busy_s};

}  // namespace chexbench::measure

// What an engine measures of one step, shared by engine (fills it) and report (writes it).
#pragma once

#include <array>

namespace chexbench::measure {

// Where one step's wall time went, in seconds, from the end of the step before to the end of this one. The parts and
// `other_s` sum to wall_s exactly: other_s is defined as the rest.
struct StepTimings {
  double wall_s = 0;
  double wait_s = 0;                   // the device was idle because no batch had come
  double upload_s = 0;                 // host to device and layout or type conversion
  double compute_s = 0;                // forward + backward
  double exposed_communication_s = 0;  // waiting for the reducer after backward
  double update_s = 0;                 // optimizer
  double other_s = 0;
  double forward_s = 0;             // of compute_s
  double backward_s = 0;            // of compute_s
  double communication_busy_s = 0;  // hidden or not
  double end_s = 0;                 // now_s() when the step ended on the device
  double loss = 0;                  // mean binary cross-entropy over batch x 14; NaN where no arithmetic is done
  int images = 0;                   // valid images of the batch
};

// The members that are durations: what may be summed over steps, ranks, or the batches of a step.
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

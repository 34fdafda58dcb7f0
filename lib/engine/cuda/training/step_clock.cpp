#include "engine/cuda/training/step_clock.hpp"

#include <algorithm>
#include <cstddef>

namespace chexbench::engine::cuda {
namespace {

constexpr std::size_t kRemembered = 31;
constexpr double kFirst = 10, kSteps = 50;

}  // namespace

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

void StallLimit::add(double step_s) {
  if (steps_s_.size() < kRemembered) {
    steps_s_.push_back(step_s);
  } else {
    steps_s_[next_++ % kRemembered] = step_s;
  }
}

double StallLimit::seconds() const {
  if (steps_s_.empty()) return kFirst * least_s_;
  std::vector<double> sorted = steps_s_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return std::max(least_s_, kSteps * *middle);
}

}  // namespace chexbench::engine::cuda

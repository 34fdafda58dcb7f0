#include "engine/cuda/training/stall_limit.hpp"

#include <algorithm>
#include <cstddef>

namespace chexbench::engine::cuda {
namespace {

constexpr std::size_t kRemembered = 31;
constexpr double kFirst = 10, kSteps = 50;

}  // namespace

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

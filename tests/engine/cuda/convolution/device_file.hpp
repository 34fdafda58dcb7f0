// Loads descriptions of devices that this machine lacks.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "engine/cuda/convolution/conv_plans.hpp"

namespace chexbench::engine::cuda {

// `name` is that of a file in tests/data/devices.
inline PlanTarget described_device(const std::string& name) {
  std::ifstream file(CHEXBENCH_DEVICES "/" + name + ".json");
  std::stringstream text;
  text << file.rdbuf();
  return PlanTarget::from_description(text.str());
}

// Returns the first candidate that is not refused.
inline Plan first_plan(ConvPlans plans) {
  Plan plan;
  for (int i = 0; i < plans.candidates() && plan.state == PlanState::refused; ++i) plan = plans.build(i);
  return plan;
}

}  // namespace chexbench::engine::cuda

// Checks which precisions a device supports.
#pragma once

#include <string>

#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// Checks that a device supports `precision`. `compute_capability` is 90 for 9.0; `device` is its name, for the
// message.
// @throws DeviceError if its tensor cores lack the precision; the message lists those that it supports
void check_precision(spec::Precision precision, int compute_capability, const std::string& device);

}  // namespace chexbench::engine::cuda

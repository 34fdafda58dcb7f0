// Which precisions a device has.
#pragma once

#include <string>

#include "spec/experiment.hpp"

namespace chexbench::engine::cuda {

// `compute_capability`: 90 is 9.0. @throws DeviceError where its tensor cores lack the precision: what it has
void check_precision(spec::Precision precision, int compute_capability, const std::string& device);

}  // namespace chexbench::engine::cuda

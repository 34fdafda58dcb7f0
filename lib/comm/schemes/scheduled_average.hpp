// Carries out a schedule as an operation of the comm thread.
#pragma once

#include <span>

#include "comm/comm_thread.hpp"
#include "comm/schemes/schedule.hpp"
#include "comm/schemes/transport.hpp"

namespace chexbench::comm {

// How values are sent and scaled on their way to the mean.
struct AverageConfig {
  float scale = 1;  // one over the number of ranks
  FloatType dtype = FloatType::f32;
};

// Returns an operation that sums `values` over ranks according to the schedule, in f32, multiplied by `scale`. For f32
// transfers the sums are scaled. For 16-bit transfers the summands are scaled instead, so that no sum exceeds the
// largest value. All ranks get the same bits, because a rank that sends a value keeps the rounded value. The transport
// and the values must outlive the operation.
// @throws DeviceError from the operation if the transport fails
Poll make_scheduled_average(Transport& transport, Schedule schedule, std::span<float> values,
                            const AverageConfig& config);

}  // namespace chexbench::comm

// Carries a schedule out, as an operation of the comm thread.
#pragma once

#include <span>

#include "comm/comm_thread.hpp"
#include "comm/schemes/schedule.hpp"
#include "comm/schemes/transport.hpp"

namespace chexbench::comm {

// What becomes of the values on their way to the mean.
struct AverageConfig {
  float scale = 1;  // one over the number of ranks
  spec::GradientDtype dtype = spec::GradientDtype::f32;
};

// Sums `values` over ranks as the schedule says, in f32, times `scale`: the sums are scaled, or, where 16 bits are
// sent, what goes into them, so that no sum is larger than the largest value was. All ranks get the same bits: whoever
// sends a value keeps it as it was rounded. Transport and values must outlive it.
Poll make_scheduled_average(Transport& transport, Schedule schedule, std::span<float> values,
                            const AverageConfig& config);

}  // namespace chexbench::comm

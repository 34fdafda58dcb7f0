// Carries a schedule out, as an operation of the comm thread.
#pragma once

#include <span>

#include "comm/comm_thread.hpp"
#include "comm/schemes/schedule.hpp"
#include "comm/schemes/transport.hpp"

namespace chexbench::comm {

// Sums `values` over ranks as the schedule says, and multiplies them by `scale`. Transport and values must outlive it.
Poll make_scheduled_average(Transport& transport, Schedule schedule, std::span<float> values, float scale);

}  // namespace chexbench::comm

// The work of a second job in its own process.
#pragma once

#include <vector>

#include "bench/second_job/counters.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// Returns the trial run by a second job of kind input, training or both: the given one, but on one rank, with other
// images first, and with the engine and images from second_job. A pure function.
spec::TrialSpec second_job_trial(const spec::TrialSpec& trial);

// Runs the second job's work on `cores` until an error or a signal ends it, and counts it.
// @throws SpecError, DataError, DeviceError as a trial does, and if the process cannot be bound to `cores`
// @throws InterruptedError after a signal
[[noreturn]] void run_second_job(const spec::TrialSpec& trial, const std::vector<int>& cores,
                                 SecondJobCounters& counters);

// Ends this process at once when the other end of the pipe is closed, or cannot be watched. Returns at once.
void end_with(int control);

}  // namespace chexbench::bench

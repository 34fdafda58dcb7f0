// The work of a second job in its own process.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// The progress of a running second job, in memory shared with the process that started it, so that neither needs a
// system call to access it. Both processes run the same program, so they agree on the layout.
struct SecondJobCounters {
  std::atomic<std::uint64_t> images = 0;  // that it has delivered or trained on
  std::atomic<std::uint64_t> bytes = 0;   // that it has moved through memory, or read from storage
  std::atomic<bool> ready = false;        // it is working, after its setup
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// The descriptors of a second job, besides its trial's spec on standard input: the counters, and a pipe from its
// parent. When the parent's end closes, for any reason, the second job ends, too.
inline constexpr int kCountersDescriptor = 3;
inline constexpr int kControlDescriptor = 4;

// Counters in an unnamed file, mapped into this process.
class SharedCounters {
 public:
  // Maps the file of `descriptor`, which the caller keeps. @throws DeviceError if it cannot be mapped
  explicit SharedCounters(int descriptor);
  ~SharedCounters();
  SharedCounters(const SharedCounters&) = delete;
  SharedCounters& operator=(const SharedCounters&) = delete;

  SecondJobCounters& operator*() const { return *counters_; }
  SecondJobCounters* operator->() const { return counters_; }

 private:
  SecondJobCounters* counters_;
};

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

// Returns the bytes that a job of kind memory streams through: four times the largest cache, at least 256 MiB and at
// most an eighth of the memory. A pure function.
std::uint64_t streamed_bytes(std::uint64_t cache_bytes, std::uint64_t memory_bytes);

}  // namespace chexbench::bench

// The progress of a running second job: counters in memory shared with the process that started it, so that neither
// needs a system call to access them.
#pragma once

#include <atomic>
#include <cstdint>

namespace chexbench::bench {

// Both processes run the same program, so they agree on the layout.
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

}  // namespace chexbench::bench

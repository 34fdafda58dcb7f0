// What a second job tells while it runs: counters in memory that it shares with the process that started it, so that
// reading them costs neither of the two a system call.
#pragma once

#include <atomic>
#include <cstdint>

namespace chexbench::bench {

// Both processes run the same program, so they agree on the layout.
struct SecondJobCounters {
  std::atomic<std::uint64_t> images = 0;  // that it has delivered or trained on
  std::atomic<std::uint64_t> bytes = 0;   // that it has moved through memory, or read from storage
  std::atomic<bool> ready = false;        // it does its work, after what it had to build first
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// The descriptors with which a second job starts, beside its trial's spec on standard input: of the counters, and of a
// pipe whose other end its starter holds. When that end closes, however its starter ended, the second job ends, too.
inline constexpr int kCountersDescriptor = 3;
inline constexpr int kControlDescriptor = 4;

// Counters in a file without a name, mapped into this process.
class SharedCounters {
 public:
  // Maps the file behind `descriptor`, which stays the caller's. @throws DeviceError if it cannot be mapped
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

// Computes how a GPU's time was spent over a number of training steps, from the times of its kernels, copies and
// memsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_time/covered_time.hpp"

namespace chexbench::measure {

// The operations of one kind. `time_s` is the sum of their durations, so overlapping operations count several times.
// `own_s` is the time of kernels without any earlier-recorded kernel running: over all names, it adds up to the time
// with a kernel running. With programmatic launch, a kernel already waits while the previous one runs, so its duration
// alone means little.
struct OperationTime {
  std::string name;  // for kernels: as the compiler mangled it
  std::uint64_t count = 0;
  double time_s = 0;
  double own_s = 0;  // of copies and memsets: 0
};

// The result for a window that reaches from the start of one step to the start of a later one. It contains nothing of
// the later step.
struct KernelTimes {
  std::uint64_t steps = 0;  // in the window; 0 if there was no window, see `problem`
  double window_s = 0;
  double kernel_s = 0;  // time in which at least one kernel ran
  std::uint64_t kernels = 0;
  OperationTime copies, memsets;
  std::vector<OperationTime> costliest;  // kernels by name, those of the longest own_s first
  std::uint64_t lost_records = 0;        // in the whole run
  bool exact = true;                     // false if kernel_s lacks kernels or their times
  std::string problem;                   // why nothing was measured; otherwise empty
};

// Adds up operations as their records arrive, approximately in the order in which they began. Not thread-safe.
class KernelTally {
 public:
  struct Options {
    std::string step_kernel;          // part of the mangled name of a kernel that runs once per step, as its first
    std::uint64_t skipped_steps = 0;  // warm-up steps before the window
    std::size_t listed_names = 20;
  };
  explicit KernelTally(Options options) : options_(std::move(options)) {}

  // Times are in ns of any one clock. An operation that began at 0, or that ends before it begins, counts as lost.
  void kernel(std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns);
  void copy(std::uint64_t begin_ns, std::uint64_t end_ns);
  void memset(std::uint64_t begin_ns, std::uint64_t end_ns);
  void lose(std::uint64_t records) { lost_records_ += records; }

  // Returns the result so far. If fewer than two steps followed the warm-up, only `problem` and `lost_records` are
  // set.
  KernelTimes times() const;

 private:
  struct Sum {
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0, own_ns = 0;
    void add(std::uint64_t ns, std::uint64_t own = 0) { ++count, time_ns += ns, own_ns += own; }
  };
  // An operation belongs to the step that began last. That step's sum is added to the window's sum when the next step
  // begins.
  struct Sums {
    Sum step, window;
  };
  struct Kernel {
    bool begins_step = false;
    Sums sums;
  };

  bool has_times(std::uint64_t begin_ns, std::uint64_t end_ns);
  void begin_step(std::uint64_t begin_ns);
  void end_step(Sums& sums) const;
  std::vector<OperationTime> kernels_by_time() const;
  std::string why_no_window() const;

  Options options_;
  std::map<std::string, Kernel, std::less<>> kernels_;  // by mangled name
  CoveredTime busy_;
  Sums copies_, memsets_;
  std::uint64_t begun_steps_ = 0;
  std::uint64_t window_begin_ns_ = 0, window_end_ns_ = 0;
  std::uint64_t lost_records_ = 0;
};

}  // namespace chexbench::measure

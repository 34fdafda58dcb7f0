// What a GPU's time went into over a number of training steps, from the times of its kernels, copies and memsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/kernel_time/interval_union.hpp"

namespace chexbench::measure {

// Operations of one kind: the sum of their times, an overlap counted as often as there are operations in it.
struct OperationTime {
  std::string name;  // of kernels: as the compiler mangled it
  std::uint64_t count = 0;
  double time_s = 0;
};

// The window from the begin of one step to the begin of a later one; nothing of the last step is in it.
struct KernelTimes {
  std::uint64_t steps = 0;  // in the window; 0: there was none, see problem
  double window_s = 0;
  double kernel_s = 0;  // in which at least one kernel ran
  std::uint64_t kernels = 0;
  OperationTime copies, memsets;
  std::vector<OperationTime> costliest;  // kernels by name, the costliest first
  std::uint64_t lost_records = 0;        // in the whole run
  bool exact = true;                     // false: kernel_s lacks kernels, or their times
  std::string problem;                   // why nothing was measured
};

// Adds up operations as they become known, in about the order in which they began. Not thread-safe.
class KernelTally {
 public:
  struct Options {
    std::string step_kernel;          // part of the mangled name of a kernel that runs once a step, as its first
    std::uint64_t skipped_steps = 0;  // warm-up, in front of the window
    std::size_t listed_names = 20;
  };
  explicit KernelTally(Options options) : options_(std::move(options)) {}

  // Times in ns of any one clock. An operation that ends before it begins, or began at 0, counts as lost.
  void kernel(std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns);
  void copy(std::uint64_t begin_ns, std::uint64_t end_ns);
  void memset(std::uint64_t begin_ns, std::uint64_t end_ns);
  void lose(std::uint64_t records) { lost_records_ += records; }

  KernelTimes times() const;

 private:
  struct Sum {
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0;
    void add(std::uint64_t ns) { ++count, time_ns += ns; }
  };
  // An operation belongs to the step that began last; that step's sum joins the window's when the next one begins.
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
  std::map<std::string, Kernel, std::less<>> kernels_;  // by name
  IntervalUnion busy_;
  Sums copies_, memsets_;
  std::uint64_t begun_steps_ = 0;
  std::uint64_t window_begin_ns_ = 0, window_end_ns_ = 0;
  std::uint64_t lost_records_ = 0;
};

}  // namespace chexbench::measure

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

namespace chexbench::measure {

// The operations of one kind. `time_s` is the sum of their durations, so overlapping operations count several times.
// `own_s` is the time of kernels without any earlier kernel running: over all names, it adds up to the time with a
// kernel running. With programmatic launch, a kernel already waits while the previous one runs, so its duration alone
// means little.
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

// Returns one JSON object with demangled kernel names. See README.md in this folder for its keys.
std::string to_json(const KernelTimes& times);

// Collects operations in any order, and adds them up at the end. Keeps 24 bytes for each. Not thread-safe.
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
  void copy(std::uint64_t begin_ns, std::uint64_t end_ns) { add({begin_ns, end_ns}, copies_); }
  void memset(std::uint64_t begin_ns, std::uint64_t end_ns) { add({begin_ns, end_ns}, memsets_); }
  void lose(std::uint64_t records) { lost_records_ += records; }

  // Returns the result so far. If fewer than two steps followed the warm-up, only `problem`, `lost_records` and
  // `exact` are set.
  KernelTimes times() const;

 private:
  struct Operation {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::size_t name = 0;  // its number; of kernels only
  };
  void add(const Operation& operation, std::vector<Operation>& to);

  Options options_;
  std::map<std::string, std::size_t, std::less<>> names_;  // mangled name -> its number
  std::vector<Operation> kernels_, copies_, memsets_;
  std::uint64_t lost_records_ = 0;
};

}  // namespace chexbench::measure

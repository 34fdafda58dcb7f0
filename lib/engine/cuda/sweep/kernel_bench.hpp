// Device memory for one call: runs it and compares its results with the host's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cuda/runtime/device.hpp"
#include "engine/cuda/sweep/launch_kernel.hpp"
#include "engine/cuda/sweep/test_values.hpp"

namespace chexbench::engine::cuda {

struct ItemRange {
  std::int64_t begin = 0, end = 0;
};

// The part of a call that is recomputed on the host, since all of it would take a CPU minutes: items and channels that
// are computed together. Results by item are compared if `compares_items`, those by channel or of the whole call if
// `compares_sums`.
struct Selection {
  std::vector<ItemRange> items;
  int channel = -1;  // the only one, or -1 for all
  bool compares_items = true, compares_sums = true;

  std::int64_t count() const;  // of items
};

// Returns the selections with which a call is checked:
// - small kernels: everything;
// - elementwise kernels: about 65,536 values (at least 64 rows), all channels of rows that are spread evenly from the
//   first to the last, or runs of 64 elements of flat arrays;
// - pools: whole images, at least the first, the middle and the last;
// - sums over rows: their results by row as above; and all rows of eight channels, one of each place in a vector of
//   eight, spread from the first to the last.
std::vector<Selection> selections(const KernelCall& call);

// The result of a comparison. Differences are relative: |device - host| / (|host| + mean |host|), the mean over the
// compared values of that result; for scalars, relative to |host| alone. Half types may differ by two roundings of the
// type. Any write between rows, where a kernel must not write, is an infinite difference.
struct KernelCheck {
  std::int64_t values = 0;  // that were compared
  std::string result;       // the one that is nearest to its limit, or farthest beyond
  double difference = 0, allowed = 0;

  bool agrees() const { return difference <= allowed; }
  // Takes the largest difference of one result and its limit into account.
  void add(const std::string& of, double found, double limit);
};

// Not thread-safe. All functions @throws DeviceError if the device fails
class KernelBench {
 public:
  // Tests pass another `launch`, to check that wrong results are found.
  using Launch = void (*)(const KernelCall&, const KernelMemory&, void* scratch, kernels::Stream);
  // @throws DeviceError if there is not enough device memory
  explicit KernelBench(const KernelCall& call, Launch launch = launch_kernel);

  // Queues the call on the default stream. Operands updated in place change each time.
  void run();
  // Runs the call on its test values, with results that begin as NaN, and compares. Sums run twice and the second run
  // is compared, because a sum must leave its scratch as it found it. An overflow check runs a second time, with an
  // infinite last gradient.
  KernelCheck check();

 private:
  struct Tensor {
    KernelOperand operand;
    std::int64_t elements;
    TestValues values;
    DeviceMemory memory;
  };

  struct Results {
    std::vector<float> expected, found;
  };

  void fill();
  bool finds_infinity();
  std::vector<std::vector<std::byte>> computed(const Selection& selection) const;
  bool leaves_gaps(const Tensor& tensor, const Selection& selection) const;
  // Appends the host's and the device's results of the selection, by tensor.
  void compute(const Selection& selection, std::vector<Results>& all, KernelCheck& check) const;

  const KernelCall call_;
  const Launch launch_;
  std::vector<Tensor> tensors_;
  KernelMemory memory_;
  DeviceMemory scratch_;
};

}  // namespace chexbench::engine::cuda

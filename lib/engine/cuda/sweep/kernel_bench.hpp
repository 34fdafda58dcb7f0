// Device memory for one call, which runs it and holds its results against the host's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cuda/runtime/device.hpp"
#include "engine/cuda/sweep/kernel_list.hpp"
#include "engine/cuda/sweep/launch_kernel.hpp"
#include "engine/cuda/sweep/test_values.hpp"

namespace chexbench::engine::cuda {

// What a comparison found. Differences are relative: |device - host| / (|host| + mean |host|), the mean over what was
// compared of that result; those of scalars are to |host| alone. Those of half types may be two roundings of the type.
// What a kernel wrote between rows, where it has nothing to write, is an infinite difference.
struct KernelCheck {
  std::int64_t values = 0;  // that were compared
  std::string result;       // the one that is nearest to its limit, or farthest beyond
  double difference = 0, allowed = 0;

  bool agrees() const { return difference <= allowed; }
  // Takes in the largest difference of one result and what it may be.
  void add(const std::string& of, double found, double limit);
};

// Not thread-safe. All functions @throws DeviceError if the device fails
class KernelBench {
 public:
  // Tests give another `launch`, to see that wrong results are found.
  using Launch = void (*)(const KernelCall&, const KernelMemory&, void* scratch, kernels::Stream);
  // @throws DeviceError if there is not enough device memory
  explicit KernelBench(const KernelCall& call, Launch launch = launch_kernel);

  // Queues the call on the default stream. What it updates in place changes each time.
  void run();
  // Runs the call on its test values, with results that begin as NaN, and compares. Sums run twice, of which the second
  // run is compared, because a sum must leave its scratch as it found it. An overflow check runs a second time, with an
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
  // Appends what the host and the device have of the selection's results, by tensor.
  void compute(const Selection& selection, std::vector<Results>& all, KernelCheck& check) const;

  const KernelCall call_;
  const Launch launch_;
  std::vector<Tensor> tensors_;
  KernelMemory memory_;
  DeviceMemory scratch_;
};

}  // namespace chexbench::engine::cuda

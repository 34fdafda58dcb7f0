// Times work on separate device memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/runtime/device.hpp"

namespace chexbench::engine::cuda {

// Queues filling the memory with the pattern, again and again, on the default stream. @throws DeviceError if CUDA
// reports an error
void fill_with(const DeviceMemory& memory, std::span<const std::byte> pattern);

// Flushes the device's caches: no run then finds its operands in a cache, as in the middle of a step, or has to write
// back other data. Not thread-safe.
class CacheFlush {
 public:
  // @throws DeviceError if there is not enough device memory
  CacheFlush();
  // Queues it on the default stream, where it takes longer (0.1 to 0.2 ms) than the host needs to queue a run.
  void queue();

 private:
  std::size_t half_bytes() const;

  const std::size_t rows_;
  DeviceMemory memory_;
  DeviceMemory moments_;
  DeviceMemory scratch_;
};

// Times work with cold caches. Not thread-safe.
class ColdTimer {
 public:
  // Returns the seconds of one `run`, which queues its work on the default stream: the median of several runs, each
  // with cold caches; of one run, if that takes longer than `give_up_s`.
  // @throws DeviceError if the device fails, and any exception of `run`
  double median_s(const std::function<void()>& run, double give_up_s = std::numeric_limits<double>::infinity());

 private:
  CacheFlush flush_;
  DeviceTimer timer_;
};

// Device memory for the operands of one request, filled with numbers between -1 and 1. Not thread-safe.
class PlanBench {
 public:
  // @throws DeviceError if there is not enough device memory
  explicit PlanBench(const std::vector<Operand>& operands);

  const std::vector<OperandMemory>& memory() const { return memory_; }
  void* at(OperandRole role) const;  // nullptr if no operand has that role

  // Returns the seconds of one `run`, which gets `workspace_bytes` of device memory, like ColdTimer.
  // @throws DeviceLostError if the device stops working, DeviceError if it lacks the memory, and any exception of `run`
  double median_s(std::int64_t workspace_bytes, const std::function<void(void* workspace)>& run,
                  double give_up_s = std::numeric_limits<double>::infinity());

  // Queues setting all results to NaN.
  void poison_results();
  // Returns some thousand values of the results, always from the same places, over the whole of them.
  std::vector<float> sample() const;

 private:
  const std::vector<Operand> operands_;
  std::vector<DeviceMemory> tensors_;
  std::vector<OperandMemory> memory_;
  ColdTimer timer_;
};

// Makes the numbers with which convolution plans are timed and their results compared.

inline constexpr std::size_t kBenchValues = 1u << 17;

// Returns about kBenchValues numbers between -1 and 1, at most `most` of them, to be repeated until the operand number
// `operand` of a request is full. Equal numbers would hide values in wrong places, and would reduce the device's power.
//
// Each operand has different numbers, with a different period. If two operands were the same, a weight gradient would
// sum squares: a third of the number of rows, which at batch 256 is more than fp16 can hold.
template <typename T>
std::vector<T> bench_values(std::size_t operand, std::size_t most) {
  std::vector<T> values(std::min(kBenchValues - 2 * operand - 1, most));
  RandomStream random(derive_seed(1, operand));
  std::ranges::generate(values,
                        [&] { return kernels::Element<T>::narrow(2 * static_cast<float>(random.uniform()) - 1); });
  return values;
}

}  // namespace chexbench::engine::cuda

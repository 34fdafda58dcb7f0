// Measures how long work takes on device memory of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/cuda/convolution/conv_operand.hpp"
#include "engine/cuda/runtime/device.hpp"

namespace chexbench::engine::cuda {

// Device memory for the operands of one request, filled with small numbers. Not thread-safe.
class PlanBench {
 public:
  // @throws DeviceError if there is not enough device memory
  explicit PlanBench(const std::vector<Operand>& operands);

  const std::vector<OperandMemory>& memory() const { return memory_; }
  void* at(OperandRole role) const;  // nullptr if no operand has that role

  // Returns the seconds of one `run`, which gets `workspace_bytes` of device memory and queues its work on the
  // default stream: the median of several runs, each with cold caches.
  // @throws DeviceError if the device fails or lacks the memory, and whatever `run` throws
  double median_s(std::int64_t workspace_bytes, const std::function<void(void* workspace)>& run);

 private:
  DeviceMemory flush_;
  std::vector<DeviceMemory> tensors_;
  std::vector<OperandMemory> memory_;
  DeviceTimer timer_;
};

}  // namespace chexbench::engine::cuda

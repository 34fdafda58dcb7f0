// Times what runs on device memory of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/cuda/conv_operand.hpp"
#include "engine/cuda/device.hpp"

namespace chexbench::engine::cuda {

// Memory for the operands of one request, filled with small numbers. Not thread-safe.
class PlanBench {
 public:
  // @throws DeviceError where there is not enough
  explicit PlanBench(const std::vector<Operand>& operands);

  const std::vector<OperandMemory>& memory() const { return memory_; }
  void* at(OperandRole role) const;  // nullptr where there is none of it

  // Seconds of one `run`, which gets that much workspace and queues its work on the default stream: the median of
  // several, each with cold caches. @throws DeviceError, also what `run` throws
  double median_s(std::int64_t workspace_bytes, const std::function<void(void* workspace)>& run);

 private:
  DeviceMemory flush_;
  std::vector<DeviceMemory> tensors_;
  std::vector<OperandMemory> memory_;
  DeviceTimer timer_;
};

}  // namespace chexbench::engine::cuda

// cuDNN's plans for one pattern on one shape. Planning needs no device: a description of one is enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/conv_operand.hpp"
#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/plan_request.hpp"

namespace chexbench::engine::cuda {

// The device that plans are made for.
class PlanTarget {
 public:
  // A JSON object as cuDNN's device properties serialize to. @throws DeviceError where cuDNN refuses it
  static PlanTarget from_description(const std::string& json);
  // The GPU of this process: plans for it can also run. @throws DeviceError
  static PlanTarget present_device();

  struct Impl;
  const std::shared_ptr<const Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

enum class PlanState {
  ready,         // can run
  needs_driver,  // compiled at run time for the device, which only a driver can load
  refused,
};

struct Plan {
  PlanState state = PlanState::refused;
  std::string engine;  // cuDNN's engine and its knobs: "eng2_k2=4_k25=1"
  std::int64_t workspace_bytes = 0;
  std::string reason;  // where it is not ready
};

// Of the library that is loaded: 91900 is 9.19.0.
std::int64_t cudnn_version();

// The candidates of one request, best guess first. Not thread-safe.
class ConvPlans {
 public:
  // @throws DeviceError, naming pattern and shape, where cuDNN offers nothing
  ConvPlans(const PlanTarget& target, const PlanRequest& request);
  ~ConvPlans();
  ConvPlans(ConvPlans&&) noexcept;

  int candidates() const;
  // Plan::engine of candidate `index`, without building it: what finds a candidate again, as indices may change.
  std::string engine(int index) const;
  // Finalizes candidate `index`: milliseconds where it is precompiled, half a second or more where not.
  Plan build(int index);

  const std::vector<Operand>& operands() const;
  // Enqueues candidate `index`, which build() found ready on the present device; returns at once. `memory` has every
  // operand once, `workspace` the bytes that the plan wants. @throws DeviceError
  void run(int index, const std::vector<OperandMemory>& memory, void* workspace, kernels::Stream stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chexbench::engine::cuda

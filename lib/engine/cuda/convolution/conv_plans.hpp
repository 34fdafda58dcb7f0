// cuDNN's plans for one pattern and one shape. Making plans needs no device: a description of one is enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda {

// The device for which plans are made. Copies share the same handle.
class PlanTarget {
 public:
  // Takes a JSON object, in the form to which cuDNN serializes device properties. @throws DeviceError if cuDNN
  // refuses it or it has no "deviceVer"
  static PlanTarget from_description(const std::string& json);
  // The GPU of this process. Plans for it can also run. @throws DeviceError if cuDNN does not start on it
  static PlanTarget present_device();

  struct Impl;
  const std::shared_ptr<const Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

enum class PlanState {
  ready,         // can run
  needs_driver,  // cuDNN compiles it at run time, and only a driver can load it
  refused,       // cuDNN cannot build it; see Plan::reason
};

// A candidate that ConvPlans::build() has tried to build.
struct Plan {
  PlanState state = PlanState::refused;
  std::string engine;  // cuDNN's engine and its knobs, e.g. "eng2_k2=4_k25=1"
  std::int64_t workspace_bytes = 0;
  bool compiled = false;  // at run time, so that it holds device memory while it is built
  std::string reason;     // cuDNN's error message, if the state is not `ready`
};

// Returns the version of the loaded library: 91900 is 9.19.0.
std::int64_t cudnn_version();

// The candidates for one request, cuDNN's best guess first. Movable. Not thread-safe.
class ConvPlans {
 public:
  // @throws DeviceError, naming pattern and shape, if cuDNN refuses the request or offers no plan
  ConvPlans(const PlanTarget& target, const PlanRequest& request);
  ~ConvPlans();
  ConvPlans(ConvPlans&&) noexcept;
  ConvPlans& operator=(ConvPlans&&) noexcept;

  // Returns the number of candidates; their indices are 0 to this number - 1.
  int candidates() const;
  // Returns Plan::engine of candidate `index` without building it, or "" if cuDNN does not name it. A cached choice
  // is found again by this name, because indices may change between versions of cuDNN.
  std::string engine(int index) const;
  // Builds candidate `index`. Takes milliseconds if cuDNN brings its kernels, half a second or more if it compiles
  // them. Failure is reported by the plan's state, not by an exception.
  Plan build(int index);

  // The tensors that run() needs, in the order in which the pattern declares them.
  const std::vector<Operand>& operands() const;
  // Queues candidate `index` and returns at once. build() must have found it `ready` on the present device. `memory`
  // has every operand once; `workspace` has at least Plan::workspace_bytes. @throws DeviceError if cuDNN does not
  // start it
  void run(int index, const std::vector<OperandMemory>& memory, void* workspace, kernels::Stream stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chexbench::engine::cuda

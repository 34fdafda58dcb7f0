// Copies weights, gradients and running statistics between the host and the device.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/program/addresses.hpp"
#include "engine/cuda/runtime/stream.hpp"
#include "engine/cuda/training/update.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::cuda {

// A running mean or variance. Its values begin at element `offset` of its region.
struct RunningPlace {
  model::TensorInfo info;
  bool is_mean = true;
  std::size_t offset = 0;
};

// Holds the initial weights on the host, and copies tensors to and from the device. All functions that touch the
// device wait for it and @throws DeviceError if it fails. `addresses` must outlive this object. Not thread-safe.
class Weights {
 public:
  explicit Weights(const Addresses& addresses);

  std::vector<model::TensorInfo> parameters() const;  // in the order in which backward completes their gradients
  // The running means and variances.
  std::vector<model::TensorInfo> buffers() const;
  // Returns the bytes of host memory that the initial weights take.
  std::size_t held_bytes() const;

  // Takes the initial weights from `source`. From now on, restart() copies these to the device.
  void fill(const model::WeightSource& source) { initial_ = weights_of(source); }
  void restart(Stream stream) const { copy(initial_, stream); }
  // Copies tensors from `source` to the device only: restart() still goes back to the initial ones.
  void load(const model::WeightSource& source, Stream stream) const { copy(weights_of(source), stream); }
  void load_buffers(const model::WeightSource& source, Stream stream) const { copy(running_of(source), stream); }

  // Read one tensor, in PyTorch's order. Gradients are divided by the loss scale. @throws SpecError if no tensor has
  // that name (with the nearest), or `values` has another size
  void read_parameter(const std::string& name, std::span<float> values, Stream stream) const;
  void read_gradient(const std::string& name, std::span<float> values, Stream stream) const;
  void read_buffer(const std::string& name, std::span<float> values, Stream stream) const;

 private:
  // Running statistics and parameters as flat arrays in the device's order.
  struct HostRunning {
    std::vector<float> mean, variance;
  };
  struct HostWeights : HostRunning {
    std::array<std::vector<float>, kParameterKinds> parameters;
  };
  HostRunning running_of(const model::WeightSource& source) const;
  HostWeights weights_of(const model::WeightSource& source) const;
  void copy(const Region& to, const std::vector<float>& from, Stream stream) const;
  void copy(const HostRunning& running, Stream stream) const;
  void copy(const HostWeights& weights, Stream stream) const;
  const RunningPlace& running_place(const std::string& name) const;

  const Addresses& addresses_;
  std::vector<RunningPlace> running_places_;
  HostWeights initial_;
};

// The tensors of an optimizer's moments, named as in engine/training_engine.hpp. In fp16 there is one more tensor,
// "grad_scaler", with three values: the loss scale, the steps since it last changed, and the updates skipped so far.
// All functions that touch the device wait for it and @throws DeviceError if it fails. `addresses` must outlive this
// object. Not thread-safe.
class Moments {
 public:
  Moments(const Addresses& addresses, const spec::TrainingSpec& training);

  // Returns names and shapes of all tensors: those of Adam's first moment before those of its second, and those of the
  // moving average of the weights after both.
  std::vector<model::TensorInfo> infos() const;
  // Reads one tensor in PyTorch's order. @throws SpecError if no moment has that name (with the nearest), or `values`
  // has another size
  void read(const std::string& name, std::span<float> values, Stream stream) const;
  // Copies all moments from `source` to the device. Returns the loss scale of `source`; the default if the precision is
  // not fp16.
  LossScale load(const model::WeightSource& source, Stream stream) const;

 private:
  // A tensor, and where its values are.
  struct Place {
    model::TensorInfo info;
    const ParameterPlace* parameter = nullptr;
    float* values = nullptr;  // on the device
  };

  const Addresses& addresses_;
  const bool scales_loss_;
  std::vector<Place> places_;
};

}  // namespace chexbench::engine::cuda

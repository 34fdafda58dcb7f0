// Weights, gradients and running statistics between the host and the device.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/addresses.hpp"
#include "engine/cuda/stream.hpp"
#include "model/tensor_info.hpp"

namespace chexbench::engine::cuda {

// A running mean or variance: `offset` values behind the begin of its region.
struct RunningPlace {
  model::TensorInfo info;
  bool is_mean = true;
  std::size_t offset = 0;
};

// What an engine's weights start from, on the host. All functions that touch the device wait for it. `addresses` must
// outlive it. Not thread-safe.
class Weights {
 public:
  explicit Weights(const Addresses& addresses);

  std::vector<model::TensorInfo> parameters() const;  // in the order in which backward completes their gradients
  std::vector<model::TensorInfo> buffers() const;
  std::size_t held_bytes() const;

  // From now on restart() brings these to the device.
  void fill(const model::WeightSource& source) { initial_ = weights_of(source); }
  void restart(Stream stream) const { copy(initial_, stream); }
  // To the device alone: restart() still goes back.
  void load(const model::WeightSource& source, Stream stream) const { copy(weights_of(source), stream); }
  void load_buffers(const model::WeightSource& source, Stream stream) const { copy(running_of(source), stream); }

  // `values` in PyTorch's order. @throws SpecError: no tensor has that name, or `values` is of another size
  void read_parameter(const std::string& name, std::span<float> values, Stream stream) const;
  void read_gradient(const std::string& name, std::span<float> values, Stream stream) const;  // unscaled
  void read_buffer(const std::string& name, std::span<float> values, Stream stream) const;

 private:
  // In the device's order.
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

}  // namespace chexbench::engine::cuda

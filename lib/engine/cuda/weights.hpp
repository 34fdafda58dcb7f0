// Weights, gradients and running statistics between the host and the device.
#pragma once

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

  // Fills the host's copies; restart() brings them to the device.
  void fill(const model::WeightSource& source);
  void restart(Stream stream);

  // `values` in PyTorch's order. @throws SpecError: no tensor has that name, or `values` is of another size
  void read_parameter(const std::string& name, std::span<float> values, Stream stream) const;
  void read_gradient(const std::string& name, std::span<float> values, Stream stream) const;  // unscaled
  void read_buffer(const std::string& name, std::span<float> values, Stream stream) const;

 private:
  const RunningPlace& running_place(const std::string& name) const;

  const Addresses& addresses_;
  std::vector<RunningPlace> running_places_;
  std::vector<float> initial_[kParameterKinds];
  std::vector<float> initial_mean_, initial_variance_;
};

}  // namespace chexbench::engine::cuda

// Copies an optimizer's moments between the host and the device, for checkpoints.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/cuda/program/addresses.hpp"
#include "engine/cuda/training/update.hpp"
#include "model/tensor_info.hpp"

namespace chexbench::engine::cuda {

// The tensors of an optimizer's moments, named as in engine/epoch_training.hpp. In fp16 there is one more tensor,
// "grad_scaler", with three values: the loss scale, the steps since it last changed, and the updates left out so far.
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
  // Copies all moments from `source` to the device. Returns what `source` has for the loss scale; the default if the
  // precision is not fp16.
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

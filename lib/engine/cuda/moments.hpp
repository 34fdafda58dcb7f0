// What an optimizer remembers, between the host and the device: for checkpoints.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/cuda/addresses.hpp"
#include "engine/cuda/update.hpp"
#include "model/tensor_info.hpp"

namespace chexbench::engine::cuda {

// Named as by engine/epoch_training.hpp. In fp16 there is one tensor more, "grad_scaler": loss scale, good steps since
// it changed, updates left out. `addresses` must outlive it. All wait for the device. Not thread-safe.
class Moments {
 public:
  Moments(const Addresses& addresses, const spec::TrainingSpec& training);

  std::vector<model::TensorInfo> infos() const;
  // @throws SpecError: no moment has that name, or `values` is of another size
  void read(const std::string& name, std::span<float> values, Stream stream) const;
  // Asks `source` for all. Returns what it says of the loss scale.
  LossScale load(const model::WeightSource& source, Stream stream) const;

 private:
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

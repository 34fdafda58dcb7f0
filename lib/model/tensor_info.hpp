// The name and shape of a network's tensor, and the interface through which engines get initial values for it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace chexbench::model {

// Describes a parameter, its gradient, or a buffer (a running mean or variance). Values are f32, in PyTorch's order:
// row-major, convolutions as OIHW, linear layers as [outputs, inputs].
struct TensorInfo {
  std::string name;                 // torchvision's, "layer1.0.conv1.weight"
  std::vector<std::int64_t> shape;  // one size per dimension

  // The number of values.
  std::int64_t count() const;
  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

// Fills `values`, which has info.count() elements in PyTorch's order, with the initial values of the tensor `info`.
// weights.hpp makes such functions; a safetensors file is another source.
using WeightSource = std::function<void(const TensorInfo& info, std::span<float> values)>;

}  // namespace chexbench::model

// A named tensor of a network.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace chexbench::model {

// A parameter, its gradient, or a buffer (a running mean or variance). Elements in PyTorch's order (row-major,
// convolutions OIHW), names as torchvision's, f32.
struct TensorInfo {
  std::string name;
  std::vector<std::int64_t> shape;

  std::int64_t count() const;
  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

// Fills `values` (in PyTorch's order) for the tensor `info`. Sources: weights.hpp.
using WeightSource = std::function<void(const TensorInfo& info, std::span<float> values)>;

}  // namespace chexbench::model

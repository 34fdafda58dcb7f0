// Where each parameter lies on the device, and in which order of elements.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/program.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine::cuda {

// Weights of convolutions and linear layers are computed with in the type of the activations, and so are their
// gradients; norms' parameters and biases stay f32. Each kind lies in flat arrays of its own (weights, moments,
// gradients, copies), with the same offsets in all of them.
enum class ParameterKind { matrix, vector };
inline constexpr int kParameterKinds = 2;

struct ParameterPlace {
  model::Parameter parameter;
  ParameterKind kind = ParameterKind::matrix;
  std::size_t offset = 0;  // elements; a multiple of kParameterAlign
  std::size_t count = 0;   // elements, padding included
  // Matrices: [outputs][window][inputs that one output sees], channels innermost as in the feature maps. The window of
  // a linear layer is the map that it reads: PyTorch has flattened that channel by channel. Inputs of the first layer
  // and outputs of the last are padded (lowering.hpp); padding is zero and stays zero.
  int outputs = 0, window = 1, inputs = 1;
};

inline constexpr std::size_t kParameterAlign = 64;  // 128 bytes of the smallest type

// Immutable.
class ParameterLayout {
 public:
  // In the order in which backward completes the gradients.
  ParameterLayout(const model::Graph& graph, const Program& program);

  const std::vector<ParameterPlace>& places() const { return places_; }
  const ParameterPlace& place(int layer, model::ParameterRole role) const;
  // @throws SpecError for an unknown name, with the nearest
  const ParameterPlace& place(const std::string& name) const;
  // Elements of the flat arrays of a kind.
  std::size_t size(ParameterKind kind) const { return sizes_[static_cast<std::size_t>(kind)]; }

 private:
  void add(const model::Parameter& parameter, const Node& node, int window, int groups);

  std::vector<ParameterPlace> places_;
  std::size_t sizes_[kParameterKinds] = {0, 0};
};

// Between PyTorch's order and the device's, which has place.count elements. @throws SpecError where `values` are not
// as many as the tensor has
void to_device_order(const ParameterPlace& place, std::span<const float> values, std::span<float> device);
void from_device_order(const ParameterPlace& place, std::span<const float> device, std::span<float> values);

}  // namespace chexbench::engine::cuda

// Where each parameter is on the device, and in which order its elements are.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/program/program.hpp"
#include "model/parameters.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// Weights of convolutions and linear layers are matrices: they and their gradients are used in the type of the
// activations. The parameters of norms and the biases are vectors, which stay f32. Each kind has separate flat arrays
// (weights, moments, gradients, copies), with the same offsets in all of them.
enum class ParameterKind { matrix, vector };
inline constexpr std::array kParameterKindList{ParameterKind::matrix, ParameterKind::vector};
inline constexpr std::size_t kParameterKinds = kParameterKindList.size();

// One parameter: its range in the flat arrays of its kind, and its layout there.
struct ParameterPlace {
  model::Parameter parameter;
  ParameterKind kind = ParameterKind::matrix;
  std::size_t offset = 0;  // in elements; a multiple of kParameterAlign
  std::size_t count = 0;   // in elements, padding included
  // Matrices are [outputs][window][inputs that one output reads], with the channels innermost as in the feature maps.
  // The window of a linear layer is the map that it reads, which PyTorch flattens channel by channel. Inputs of the
  // first layer and outputs of the last are padded (lowering.hpp); the padding is zero and stays zero.
  int outputs = 0, window = 1, inputs = 1;
};

inline constexpr std::size_t kParameterAlign = 64;  // in elements: 128 bytes of the smallest type

// The places of all parameters of a network. Immutable, so thread-safe.
class ParameterLayout {
 public:
  // Places the parameters in the order in which backward completes their gradients. With Freeze::base only those of the
  // last layer are trained.
  ParameterLayout(const model::Graph& graph, const Program& program, spec::Freeze freeze = spec::Freeze::none);

  const std::vector<ParameterPlace>& places() const { return places_; }
  // @throws DeviceError if the layer has no such parameter
  const ParameterPlace& place(int layer, model::ParameterRole role) const;
  // @throws SpecError for an unknown name, with the nearest known one
  const ParameterPlace& place(const std::string& name) const;
  // Returns the elements of each flat array of a kind.
  std::size_t size(ParameterKind kind) const { return sizes_[static_cast<std::size_t>(kind)]; }
  // Returns how many of them, from the first on, are trained. The others have no gradients and no moments.
  std::size_t trained(ParameterKind kind) const { return trained_[static_cast<std::size_t>(kind)]; }
  bool is_trained(const ParameterPlace& place) const { return place.offset < trained(place.kind); }
  // Returns whether backward continues beyond the network's last layer.
  bool trains_base() const { return trains_base_; }

 private:
  void add(const model::Parameter& parameter, const Node& node, int window, int groups);

  std::vector<ParameterPlace> places_;
  std::size_t sizes_[kParameterKinds] = {0, 0}, trained_[kParameterKinds] = {0, 0};
  bool trains_base_ = true;
};

// Convert between PyTorch's order (`values`, TensorInfo::count() elements) and the device's order (`device`,
// place.count elements). to_device_order() sets the padding to zero.
// @throws SpecError if `values` does not have as many elements as the tensor
void to_device_order(const ParameterPlace& place, std::span<const float> values, std::span<float> device);
void from_device_order(const ParameterPlace& place, std::span<const float> device, std::span<float> values);

}  // namespace chexbench::engine::cuda

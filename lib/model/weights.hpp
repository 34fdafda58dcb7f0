// Names and shapes of tensors, and sources of their initial values: seeded random numbers, or a formula that other
// frameworks can compute too, so that their results can be compared with ours.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
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
// The functions below make such sources; a safetensors file is another one.
using WeightSource = std::function<void(const TensorInfo& info, std::span<float> values)>;

// The distribution of random weights. fan_in is the number of connections into an output, fan_out out of an input.
enum class Draw {
  he_fan_in,       // N(0, 2 / fan_in) (He et al., ICCV 2015)
  he_fan_out,      // N(0, 2 / fan_out)
  uniform_fan_in,  // uniform within +-1 / sqrt(fan_in)
  narrow,          // N(0, 0.01^2)
};

// The distributions of a network's weights.
struct WeightDraws {
  Draw convolution = Draw::he_fan_out;
  Draw linear = Draw::uniform_fan_in;
};

// Returns a source of random weights: convolutions and linear layers are drawn according to `draws`; batch norms have
// weight 1 and bias 0; other biases are 0; running means are 0, running variances 1. With the network's own draws
// (weight_draws() of networks.hpp) this is what torchvision does, except for the biases of AlexNet and of the last
// layers of ResNet50 and GoogLeNet, which torchvision draws uniformly within +-1 / sqrt(fan_in). A tensor's values
// depend only on the seed, the draw, its name and its shape, so every rank and engine gets the same ones. The source is
// thread-safe.
WeightSource random_weights(std::uint64_t seed, WeightDraws draws);

// Returns a source of weights from a formula, for comparisons without files. Let u(name, i) in [0, 1) be the top 24
// bits of output i of splitmix64 with the seed FNV-1a(salt + name), divided by 2^24, and s = 2u - 1. Weights of
// convolutions and linear layers are s * sqrt(6 / fan_in), those of batch norms 1 + 0.1 s, and biases 0.1 s; running
// means are 0, running variances 1. Everything is computed in double and rounded to f32 once. The source is
// thread-safe.
WeightSource formula_weights(const std::string& salt);

// Sets values[i] to the formula's s(name, i), for example for the images of a batch (name "input", in NCHW order).
void fill_formula_signed(const std::string& salt, std::string_view name, std::span<float> values);
// Sets values[i] to 1 if the formula's u(name, i) < 0.3, and to 0 otherwise: the labels of a batch (name "target").
void fill_formula_labels(const std::string& salt, std::string_view name, std::span<float> values);

}  // namespace chexbench::model

// Where weights come from: seeded random ones, or a formula that other frameworks can compute too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/tensor_info.hpp"

namespace chexbench::model {

// The connections of a convolution that its weights' variance is scaled by: into an output, or out of an input.
enum class Fan { in, out };

// Convolutions N(0, 2 / fan) (He et al., ICCV 2015), batch norm 1 and 0, linear layers uniform within 1 / sqrt(fan_in),
// biases 0, running mean 0 and variance 1: with the network's own fan (networks.hpp) as torchvision, but for the bias
// of ResNet's last layer, which torchvision draws as that layer's weights. A tensor's values depend on seed, fan and
// name alone.
WeightSource random_weights(std::uint64_t seed, Fan fan);

// Values that need no file: u(name, i) = top 24 bits of splitmix64 output i of the seed FNV-1a(salt + name), as [0,1);
// s = 2u - 1. Weights of convolutions and linear layers s * sqrt(6 / fan_in), of batch norms 1 + 0.1 s, biases 0.1 s;
// running mean 0, running variance 1. Computed in double, rounded once.
WeightSource formula_weights(const std::string& salt);

// s(name, i) as above for i = 0, 1, ..., e.g. of the input ("input", in NCHW order).
void fill_formula_signed(const std::string& salt, std::string_view name, std::span<float> values);
// 1 where u(name, i) < 0.3, else 0: labels ("target").
void fill_formula_labels(const std::string& salt, std::string_view name, std::span<float> values);

}  // namespace chexbench::model

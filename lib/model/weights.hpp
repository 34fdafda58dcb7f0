// Where weights come from: seeded random ones, or a formula that other frameworks can compute too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/tensor_info.hpp"

namespace chexbench::model {

// How random weights are drawn. A fan counts the connections into an output, or out of an input.
enum class Draw {
  he_fan_in,  // N(0, 2 / fan) (He et al., ICCV 2015)
  he_fan_out,
  uniform_fan_in,  // within 1 / sqrt(fan)
  narrow,          // N(0, 0.01^2)
};

struct WeightDraws {
  Draw convolution = Draw::he_fan_out;
  Draw linear = Draw::uniform_fan_in;
};

// Convolutions and linear layers as `draws` says, batch norm 1 and 0, biases 0, running mean 0 and variance 1: with the
// network's own draws (networks.hpp) as torchvision, but for the biases of AlexNet and of ResNet's last layer, which
// torchvision draws as those layers' weights. A tensor's values depend on seed, draw and name alone.
WeightSource random_weights(std::uint64_t seed, WeightDraws draws);

// Values that need no file: u(name, i) = top 24 bits of splitmix64 output i of the seed FNV-1a(salt + name), as [0,1);
// s = 2u - 1. Weights of convolutions and linear layers s * sqrt(6 / fan_in), of batch norms 1 + 0.1 s, biases 0.1 s;
// running mean 0, running variance 1. Computed in double, rounded once.
WeightSource formula_weights(const std::string& salt);

// s(name, i) as above for i = 0, 1, ..., e.g. of the input ("input", in NCHW order).
void fill_formula_signed(const std::string& salt, std::string_view name, std::span<float> values);
// 1 where u(name, i) < 0.3, else 0: labels ("target").
void fill_formula_labels(const std::string& salt, std::string_view name, std::span<float> values);

}  // namespace chexbench::model

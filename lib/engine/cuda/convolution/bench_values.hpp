// Makes the numbers with which convolution plans are timed and their results compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/random.hpp"
#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda {

inline constexpr std::size_t kBenchValues = 1u << 17;

// Returns about kBenchValues numbers between -1 and 1, at most `most` of them, to be repeated until the operand number
// `operand` of a request is full. Equal numbers would hide values in wrong places, and would reduce the device's power.
//
// Each operand has numbers of its own, in a period that no other operand has. If two operands were the same, a weight
// gradient would sum squares: a third of the number of rows, which at batch 256 is more than fp16 can hold.
template <typename T>
std::vector<T> bench_values(std::size_t operand, std::size_t most) {
  std::vector<T> values(std::min(kBenchValues - 2 * operand - 1, most));
  RandomStream random(derive_seed(1, operand));
  std::ranges::generate(values,
                        [&] { return kernels::Element<T>::narrow(2 * static_cast<float>(random.uniform()) - 1); });
  return values;
}

}  // namespace chexbench::engine::cuda

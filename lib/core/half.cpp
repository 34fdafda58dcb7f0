#include "core/half.hpp"

#include <cstddef>

namespace chexbench {

void widen(std::span<const Half> from, std::span<float> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = to_float(from[i]);
}
void widen(std::span<const BFloat16> from, std::span<float> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = to_float(from[i]);
}
void narrow(std::span<const float> from, std::span<Half> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = to_half(from[i]);
}
void narrow(std::span<const float> from, std::span<BFloat16> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = to_bfloat16(from[i]);
}

}  // namespace chexbench

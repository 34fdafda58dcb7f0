#include "core/label_bits.hpp"

#include <algorithm>

namespace chexbench {
namespace {

constexpr std::size_t kInFirst = 64;

}  // namespace

bool LabelBits::has(std::size_t label) const {
  if (label < kInFirst) return (first_ >> label & 1u) != 0;
  return std::ranges::binary_search(others_, static_cast<std::uint32_t>(label));
}

void LabelBits::set(std::size_t label) {
  if (label < kInFirst) {
    first_ |= std::uint64_t{1} << label;
    return;
  }
  const auto value = static_cast<std::uint32_t>(label);
  const auto place = std::ranges::lower_bound(others_, value);
  if (place == others_.end() || *place != value) others_.insert(place, value);
}

LabelBits LabelBits::present() const {
  LabelBits labels = *this;
  labels.ignored_ = 0;
  return labels;
}

}  // namespace chexbench

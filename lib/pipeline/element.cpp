#include "pipeline/element.hpp"

#include <algorithm>

namespace chexbench::pipeline {

std::int64_t Element::images() const {
  if (std::holds_alternative<Example>(value)) return 1;
  if (const auto* batch = std::get_if<BatchLease>(&value)) return (*batch)->valid;
  return 0;
}

std::int64_t Element::held_bytes(std::size_t image_bytes) const {
  if (std::holds_alternative<Example>(value)) return static_cast<std::int64_t>(image_bytes);
  if (const auto* batch = std::get_if<BatchLease>(&value)) return static_cast<std::int64_t>((*batch)->shape.bytes());
  return 0;
}

void expand_labels(const LabelBits& labels, std::span<float> out) {
  std::ranges::fill(out, 0.0f);
  labels.for_each([&](std::size_t label) { out[label] = 1.0f; });
  for (std::size_t label = 0; label < std::min(out.size(), LabelBits::kMostIgnored); ++label) {
    if (labels.is_ignored(label)) out[label] = kIgnoredLabel;
  }
}

}  // namespace chexbench::pipeline

// A request for a convolution plan.
#pragma once

#include <cstdint>
#include <string>

#include "engine/cuda/convolution/conv_pattern.hpp"

namespace chexbench::engine::cuda {

// Everything that decides which plans cuDNN offers on a device, and which of them are allowed.
struct PlanRequest {
  ConvPattern pattern = ConvPattern::forward;
  ConvShape shape;
  spec::Precision precision = spec::Precision::f32;
  std::int64_t workspace_limit_bytes = std::int64_t{1} << 30;  // plans that need more are not considered
  bool deterministic = false;                                  // only plans with the same bits in every run

  // For people: "weight_gradient of n256 64x56x56 -> 256 k1 s1 in fp16".
  std::string text() const;
};

}  // namespace chexbench::engine::cuda

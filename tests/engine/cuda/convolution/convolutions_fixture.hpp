// Two shapes of convolutions on a scripted device.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "engine/cuda/convolution/convolutions.hpp"
#include "engine/cuda/convolution/scripted_conv_device.hpp"

namespace chexbench::engine::cuda {

inline constexpr ConvShape kShape{.images = 64,
                                  .in_channels = 256,
                                  .height = 56,
                                  .width = 56,
                                  .out_channels = 64,
                                  .in_pixel_stride = 256,
                                  .out_pixel_stride = 64};
inline constexpr ConvShape kOfImages{.images = 64,
                                     .in_channels = 8,
                                     .height = 224,
                                     .width = 224,
                                     .out_channels = 64,
                                     .kernel = 7,
                                     .stride = 2,
                                     .padding = 3,
                                     .in_pixel_stride = 8,
                                     .out_pixel_stride = 64,
                                     .reads_images = true};

using Memory = std::map<OperandRole, void*>;

// Returns the configuration in the two ways in which it forbids all fused plans.
inline std::array<ConvolutionsConfig, 2> unfused(const ConvolutionsConfig& config) {
  std::array<ConvolutionsConfig, 2> configs{config, config};
  configs[0].fused = false;
  configs[1].deterministic = true;
  return configs;
}

class ConvolutionsTest : public testing::Test {
 protected:
  ConvolutionsTest() {
    scripted_.plans = {
        {ConvPattern::forward, {{.engine = "plain", .workspace_bytes = 100}}},
        {ConvPattern::forward_statistics, {{.engine = "fused", .workspace_bytes = 300, .statistics_s = 0}}},
        {ConvPattern::data_gradient, {{.engine = "data", .workspace_bytes = 200}}},
        {ConvPattern::weight_gradient, {{.engine = "weight"}}}};
    testing::internal::CaptureStderr();
  }
  ~ConvolutionsTest() override { testing::internal::GetCapturedStderr(); }

  Convolutions made(ConvolutionsConfig config = {.precision = spec::Precision::fp16}) {
    return Convolutions({kShape, kOfImages, kShape}, config, scripted_.device());
  }
  static void* at(int place) {
    static std::array<char, 16> memory;
    return &memory[static_cast<std::size_t>(place)];
  }

  ScriptedDevice scripted_;
  const kernels::Stream stream_ = static_cast<kernels::Stream>(at(15));
};

}  // namespace chexbench::engine::cuda

#include "engine/onednn/device.hpp"

#include <gtest/gtest.h>

#include "core/cpu_features.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::onednn {
namespace {

Device fitted(spec::Precision precision, const char* network) {
  return fit_to_network(make_device(precision), model::make_network(network, 64, 14));
}

TEST(FitToNetwork, F32StaysBlocked) { EXPECT_EQ(fitted(spec::Precision::f32, "resnet50").layout, Layout::blocked); }

TEST(FitToNetwork, Bf16IsChannelsLastWhereThereIsAmx) {
  if (!cpu_features().avx512_bf16) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  const Layout expected = has_amx() ? Layout::channels_last : Layout::blocked;
  for (const char* network : {"resnet50", "densenet121", "alexnet"}) {
    const Device device = fitted(spec::Precision::bf16, network);
    EXPECT_EQ(device.layout, expected) << network;
    EXPECT_EQ(device.block, 16) << network;
    EXPECT_EQ(device_text(device).find("AVX-512 and AMX") != std::string::npos, has_amx()) << device_text(device);
  }
}

// GoogLeNet has branches of 24 channels.
TEST(FitToNetwork, BlocksAreHalvedIfChannelsDoNotFillThem) {
  if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX";
  const Device device = fitted(spec::Precision::bf16, "googlenet");
  EXPECT_EQ(device.layout, Layout::channels_last);
  EXPECT_EQ(device.block, 8);
  EXPECT_EQ(device.kernels->block, 8);
}

TEST(FitToNetwork, DepthwiseConvolutionsStayBlocked) {
  if (!cpu_features().avx512_bf16) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  EXPECT_EQ(fitted(spec::Precision::bf16, "mobilenet_v2").layout, Layout::blocked);
}

}  // namespace
}  // namespace chexbench::engine::onednn

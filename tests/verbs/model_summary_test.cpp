#include "verbs/model/model_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace chexbench::verbs {
namespace {

using testing::HasSubstr;

ModelSummary tiny() {
  return {.chexbench_version = "1.2.3",
          .name = "tiny",
          .image_size = 32,
          .layers = {{.name = "conv1",
                      .kind = "convolution",
                      .channels = 8,
                      .height = 16,
                      .width = 16,
                      .parameters = 1000,
                      .forward_flops = 2e6,
                      .activation_bytes = 8192},
                     {.name = "", .kind = "relu", .channels = 8, .height = 16, .width = 16, .activation_bytes = 8192},
                     {.name = "fc",
                      .kind = "linear",
                      .channels = 14,
                      .height = 1,
                      .width = 1,
                      .parameters = 126,
                      .forward_flops = 1e3,
                      .activation_bytes = 56}},
          .tensors = {{"conv1.weight", {8, 3, 7, 7}}, {"fc.bias", {14}}}};
}

TEST(ModelSummary, AddsUpItsLayers) {
  EXPECT_EQ(tiny().parameters(), 1126);
  EXPECT_EQ(tiny().gradient_bytes(), 4504);
  EXPECT_DOUBLE_EQ(tiny().forward_flops(), 2001000);
  EXPECT_DOUBLE_EQ(tiny().training_flops(), 6003000);
  EXPECT_EQ(tiny().activation_bytes(), 16440);
}

TEST(NetworkTable, HasARowALayerAndTotals) {
  const std::string text = model_table(tiny());
  EXPECT_THAT(text, HasSubstr("conv1  convolution  8x16x16        1000  2.000          0.008\n"));
  EXPECT_THAT(text, HasSubstr("       relu         8x16x16                             0.008\n"));
  EXPECT_THAT(text, HasSubstr("parameters        1126 (0.0 MB"));
  EXPECT_THAT(text, HasSubstr("training          0.006 GFLOP"));
}

TEST(NetworkJson, HoldsLayersInOrderAndTotals) {
  const auto object = nlohmann::json::parse(model_json(tiny()));
  EXPECT_EQ(object.at("chexbench_version"), "1.2.3");
  EXPECT_EQ(object.at("parameters"), 1126);
  EXPECT_EQ(object.at("gradient_bytes"), 4504);
  EXPECT_EQ(object.at("training_flops"), 6003000);
  EXPECT_EQ(object.at("activation_bytes"), 16440);
  EXPECT_EQ(object.at("layers").size(), 3u);
  EXPECT_EQ(object.at("layers").at(0).at("kind"), "convolution");
  EXPECT_EQ(object.at("layers").at(0).at("width"), 16);
  EXPECT_EQ(object.at("layers").at(2).at("parameters"), 126);
  EXPECT_EQ(object.at("tensors").at(0).at("name"), "conv1.weight");
  EXPECT_EQ(object.at("tensors").at(0).at("shape"), nlohmann::json({8, 3, 7, 7}));
}

}  // namespace
}  // namespace chexbench::verbs

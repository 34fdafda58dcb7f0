#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "verbs/model/model_summary.hpp"
#include "verbs/model/op_timing.hpp"

namespace chexbench::verbs {
namespace {

using testing::HasSubstr;

ModelSummary tiny() {
  return {.name = "tiny",
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
  EXPECT_THAT(text, HasSubstr("conv1  convolution  8x16x16       1,000   2.00          0.008\n"));
  EXPECT_THAT(text, HasSubstr("       relu         8x16x16                             0.008\n"));
  EXPECT_THAT(text, HasSubstr("parameters        1,126 (0.0 MB"));
  EXPECT_THAT(text, HasSubstr("training          0.006 GFLOP"));
}

TEST(NetworkJson, HoldsLayersInOrderAndTotals) {
  const auto object = nlohmann::json::parse(model_json(tiny()));
  EXPECT_EQ(object.at("chexbench_version"), CHEXBENCH_VERSION);
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

const ModelLayer& named(const ModelSummary& network, const std::string& name) {
  const auto layer = std::ranges::find(network.layers, name, &ModelLayer::name);
  if (layer == network.layers.end()) throw std::runtime_error("no layer " + name);
  return *layer;
}

// Torchvision's counts, with 14 outputs instead of the last layer's 1000 classes.
TEST(SummarizeNetwork, CountsTheParametersOfTorchvision) {
  const auto parameters = [](const char* name) { return summarize_model(name, 224).parameters(); };
  EXPECT_EQ(parameters("resnet50"), 25557032 - 2049 * 986);
  EXPECT_EQ(parameters("densenet121"), 7978856 - 1025 * 986);
  EXPECT_EQ(parameters("alexnet"), 61100840 - 4097 * 986);
  EXPECT_EQ(parameters("googlenet"), 6624904 - 1025 * 986);
  EXPECT_EQ(parameters("mobilenet_v2"), 3504872 - 1281 * 986);
}

TEST(SummarizeNetwork, TellsWhatEachLayerHoldsAndComputes) {
  const ModelSummary network = summarize_model("alexnet", 224);
  const ModelLayer& first = named(network, "features.0");
  EXPECT_EQ(first.kind, "convolution");
  EXPECT_EQ(first.channels, 64);
  EXPECT_EQ(first.height, 55);
  EXPECT_EQ(first.width, 55);
  EXPECT_EQ(first.parameters, 64 * 3 * 121 + 64);
  EXPECT_DOUBLE_EQ(first.forward_flops, 2.0 * 64 * 3 * 121 * 55 * 55);
  EXPECT_EQ(first.activation_bytes, 64 * 55 * 55 * 4);
  EXPECT_EQ(named(network, "classifier.1").parameters, 9216 * 4096 + 4096);
  const auto flatten = std::ranges::find(network.layers, "flatten", &ModelLayer::kind);
  EXPECT_EQ(flatten->channels, 9216);
  EXPECT_EQ(flatten->activation_bytes, 0) << "the same bytes seen otherwise";
}

TEST(SummarizeNetwork, NamesTheTensorsOfItsWeights) {
  const ModelSummary network = summarize_model("mobilenet_v2", 224);
  EXPECT_EQ(network.tensors.front().name, "features.0.0.weight");
  EXPECT_EQ(network.tensors.front().shape, (std::vector<std::int64_t>{32, 3, 3, 3}));
  EXPECT_EQ(network.tensors.back().name, "features.18.1.running_var");
}

TEST(SummarizeNetwork, OfALargerImageHasTheSameParametersAndMoreOfTheRest) {
  const auto small = summarize_model("mobilenet_v2", 128), large = summarize_model("mobilenet_v2", 256);
  EXPECT_EQ(small.parameters(), large.parameters());
  EXPECT_NEAR(large.forward_flops() / small.forward_flops(), 4, 0.05);
  EXPECT_GT(large.activation_bytes(), 3 * small.activation_bytes());
}

OpTiming timed() {
  return {.request = {.model = "tiny", .image_size = 32, .batch_size = 4, .steps = 3},
          .device = "a CPU",
          .ops = {{.kind = "convolution 3x3", .ops = 2, .forward_s = 0.1, .backward_s = 0.2},
                  {.kind = "norm", .ops = 1, .forward_s = 0.02, .backward_s = 0.03}},
          .step_s = 0.4,
          .update_s = 0.04};
}

TEST(OpTiming, LeavesWhatIsNeitherAnOpNorTheUpdate) { EXPECT_NEAR(timed().other_s(), 0.01, 1e-12); }

TEST(OpTimingTable, HasTheShareOfEachKindInAStep) {
  const std::string text = op_timing_table(timed());
  EXPECT_THAT(text, HasSubstr("tiny 32x32 f32, batch 4, on a CPU\nstep: 400.0 ms, 10.0 images/s, mean of 3 steps"));
  EXPECT_THAT(text, HasSubstr("convolution 3x3    2       100.0        200.0       75.0 %\n"));
  EXPECT_THAT(text, HasSubstr("update                                   40.0       10.0 %\n"));
  EXPECT_THAT(text, HasSubstr("other                                    10.0        2.5 %"));
}

TEST(OpTimingJson, HoldsAllTimes) {
  const auto object = nlohmann::json::parse(op_timing_json(timed()));
  EXPECT_EQ(object.at("chexbench_version"), CHEXBENCH_VERSION);
  EXPECT_EQ(object.at("step_s"), 0.4);
  EXPECT_EQ(object.at("ops").at(0),
            nlohmann::json::parse(R"({"kind": "convolution 3x3", "ops": 2, "forward_s": 0.1, "backward_s": 0.2})"));
}

}  // namespace
}  // namespace chexbench::verbs

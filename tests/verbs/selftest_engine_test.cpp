#include "verbs/selftest/selftest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/errors.hpp"
#include "core/param_name.hpp"
#include "core/scratch.hpp"
#include "engine/onednn/onednn_engine.hpp"

namespace chexbench::verbs {
namespace {

using testing::HasSubstr;

std::string golden(const std::string& name) { return std::string(CHEXBENCH_GOLDEN) + "/" + name + ".json"; }

class SelftestEngine : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!engine::onednn::has_onednn()) GTEST_SKIP() << "this build has no oneDNN";
  }
};

TEST_P(SelftestEngine, AgreesWithPyTorchInDouble) {
  EXPECT_THAT(selftest_engine(golden(GetParam())), HasSubstr("logits"));
}

INSTANTIATE_TEST_SUITE_P(Golden, SelftestEngine,
                         testing::Values("resnet50", "densenet121", "alexnet", "googlenet", "mobilenet_v2",
                                         "resnet50-128-batch3", "densenet121-97-batch1"),
                         ParamName());

// Golden files with the same weights and batch, in which a loss, a gradient's norm or a later loss differs. The test
// must notice each of them.
TEST(SelftestEngineFailure, NoticesWhatDeparts) {
  if (!engine::onednn::has_onednn()) GTEST_SKIP() << "this build has no oneDNN";
  std::ostringstream text;
  text << std::ifstream(golden("densenet121-97-batch1")).rdbuf();
  const std::string altered = text.str();
  const auto path = std::filesystem::path(testing::TempDir()) / ("chexbench_golden_" + std::to_string(getpid()));
  for (const std::string key : {"\"loss\": ", "\"l2\": ", "\"losses_adam\": ["}) {
    std::string one = altered;
    one.insert(one.find(key) + key.size(), 1, '9');
    std::ofstream(path) << one;
    EXPECT_THROW(selftest_engine(path.string()), ComparisonError) << key;
  }
  std::filesystem::remove(path);
}

TEST(SelftestEngineFailure, RefusesMoreEntriesThanABufferHas) {
  if (!engine::onednn::has_onednn()) GTEST_SKIP() << "this build has no oneDNN";
  std::ostringstream text;
  text << std::ifstream(golden("densenet121-97-batch1")).rdbuf();
  std::string longer = text.str();
  const std::string first = "\"first\": [";
  std::string zeros;
  for (int i = 0; i < 100000; ++i) zeros += "0, ";
  longer.insert(longer.find(first) + first.size(), zeros);
  const auto path = std::filesystem::path(testing::TempDir()) / ("chexbench_golden_long_" + std::to_string(getpid()));
  std::ofstream(path) << longer;
  EXPECT_THAT(message_of<ComparisonError>([&] { selftest_engine(path.string()); }), HasSubstr("more entries"));
  std::filesystem::remove(path);
}

TEST(SelftestEngineFailure, RefusesEnginesThatDoNotTrain) {
  EXPECT_THROW(selftest_engine(golden("resnet50"), {.name = "none"}), SpecError);
}

TEST(SelftestEngineFailure, RefusesFilesOfAnotherKind) {
  EXPECT_THROW(selftest_engine(golden("resnet50"), {.precision = spec::Precision::fp16}), SpecError);
  EXPECT_THROW(selftest_engine(golden("preprocess")), DataError);
  EXPECT_THROW(selftest_engine(golden("missing")), DataError);
}

PrecisionGate small_gate(spec::Precision precision) {
  return {.engine = "onednn", .precision = precision, .models = {"mobilenet_v2"}, .batch_size = 4, .image_size = 32};
}

TEST(PrecisionGateOf, F32IsWhatOthersAreComparedWith) {
  EXPECT_THROW(precision_gate(small_gate(spec::Precision::f32)), SpecError);
}

TEST(PrecisionGateOf, AnEngineThatTrainsNothingIsRefused) {
  PrecisionGate gate = small_gate(spec::Precision::fp16);
  gate.engine = "none";
  EXPECT_THROW(precision_gate(gate), SpecError);
}

TEST(PrecisionGateOf, AnUnknownNetworkIsRefused) {
  if (!engine::onednn::has_onednn()) GTEST_SKIP() << "this build has no oneDNN";
  PrecisionGate gate = small_gate(spec::Precision::bf16);
  gate.models = {"resnet5"};
  EXPECT_THROW(precision_gate(gate), SpecError);
}

}  // namespace
}  // namespace chexbench::verbs

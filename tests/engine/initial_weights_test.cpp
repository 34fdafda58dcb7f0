#include "engine/initial_weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/errors.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A file that contains only the last layer of a ResNet50, with 3 outputs, and its running statistics.
class InitialWeightsTest : public testing::Test {
 protected:
  InitialWeightsTest() { write(model::buffers(model::resnet50(32))); }
  void write(const std::vector<model::TensorInfo>& statistics) const {
    std::vector<spec::TensorToWrite> tensors;
    const auto add = [&](const model::TensorInfo& info) {
      const auto fill = [](std::span<float> values) { std::ranges::fill(values, 0.5f); };
      tensors.push_back({.name = info.name, .shape = info.shape, .fill = fill});
    };
    add({"fc.bias", {3}});
    add({"fc.weight", {3, 2048}});
    for (const model::TensorInfo& info : statistics) add(info);
    spec::write_safetensors(spec_.weights, tensors, {});
  }
  ~InitialWeightsTest() override { std::filesystem::remove(spec_.weights); }

  static std::vector<float> bias(const InitialWeights& weights, int outputs) {
    std::vector<float> values(static_cast<std::size_t>(outputs), -1);
    weights.source({.name = "fc.bias", .shape = {outputs}}, values);
    return values;
  }

  const spec::ModelSpec spec_{.image_size = 32,
                              .weights = testing::TempDir() + "chexbench_weights_" + std::to_string(getpid())};
};

TEST_F(InitialWeightsTest, TakesALastLayerOfTheSameSizeFromTheFile) {
  const InitialWeights weights = initial_weights(spec_, 3);
  EXPECT_THAT(weights.notes, IsEmpty());
  EXPECT_THAT(bias(weights, 3), ElementsAre(0.5f, 0.5f, 0.5f));
}

TEST_F(InitialWeightsTest, BeginsALastLayerOfAnotherSizeAnewAndSaysSo) {
  const InitialWeights weights = initial_weights(spec_, 2);
  EXPECT_THAT(weights.notes, ElementsAre(HasSubstr("layer 'fc' starts from random weights")));
  EXPECT_THAT(weights.notes.front(), HasSubstr("3 outputs for it, and the images have 2 labels"));
  EXPECT_THAT(bias(weights, 2), ElementsAre(0.0f, 0.0f));
  std::vector<float> matrix(2 * 2048);
  weights.source({.name = "fc.weight", .shape = {2, 2048}}, matrix);
  EXPECT_NE(matrix[0], 0.5f);
  EXPECT_NE(matrix[0], matrix[1]);
}

TEST_F(InitialWeightsTest, StillWantsEveryOtherTensorFromTheFile) {
  const InitialWeights weights = initial_weights(spec_, 2);
  std::vector<float> values(64);
  EXPECT_THROW(weights.source({.name = "conv1.bias", .shape = {64}}, values), DataError);
}

TEST_F(InitialWeightsTest, SaysThatRunningStatisticsAreMissingWhereTheyAreTrained) {
  std::vector<model::TensorInfo> statistics = model::buffers(model::resnet50(32));
  statistics.erase(statistics.begin() + 1);
  write(statistics);
  const InitialWeights weights = initial_weights(spec_, 3);
  EXPECT_THAT(weights.notes, ElementsAre(HasSubstr("'bn1.running_var'")));
  std::vector<float> values(64);
  weights.source({.name = "bn1.running_mean", .shape = {64}}, values);
  EXPECT_EQ(values[0], 0.5f);
  weights.source({.name = "bn1.running_var", .shape = {64}}, values);
  EXPECT_EQ(values[0], 1.0f);
}

TEST_F(InitialWeightsTest, RefusesFrozenNormsWithoutRunningStatistics) {
  spec::ModelSpec frozen = spec_, base = spec_;
  frozen.batch_norm = spec::BatchNormMode::frozen;
  base.freeze = spec::Freeze::base;
  EXPECT_NO_THROW(initial_weights(frozen, 3));
  EXPECT_NO_THROW(initial_weights(base, 3));
  write({});
  for (const auto& [spec, key] : {std::pair(frozen, "model.batch_norm frozen"), {base, "model.freeze base"}}) {
    try {
      initial_weights(spec, 3);
      FAIL() << "accepted";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("'bn1.running_mean'"), HasSubstr(key)));
    }
  }
}

}  // namespace
}  // namespace chexbench::engine

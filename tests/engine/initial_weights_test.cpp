#include "engine/initial_weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/errors.hpp"

namespace chexbench::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A file that contains only the last layer of a ResNet50, with 3 outputs.
class InitialWeightsTest : public testing::Test {
 protected:
  InitialWeightsTest() {
    const std::string header = R"({"fc.bias": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
      "fc.weight": {"dtype": "F32", "shape": [3, 2048], "data_offsets": [12, 24588]}})";
    std::ofstream file(spec_.weights, std::ios::binary);
    const std::uint64_t length = header.size();
    file.write(reinterpret_cast<const char*>(&length), 8);
    file << header;
    const std::vector<float> values(3 + 3 * 2048, 0.5f);
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * 4));
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

}  // namespace
}  // namespace chexbench::engine

// Compares the probabilities of real X-rays with those of torchvision's networks, which tests/golden keeps.
#include "verbs/evaluate/evaluate.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "comm/communicator.hpp"
#include "core/affinity.hpp"
#include "core/param_name.hpp"
#include "engine/engine.hpp"
#include "model/weights.hpp"
#include "spec/safetensors.hpp"

namespace chexbench::verbs {
namespace {

class Evaluate : public testing::Test, public testing::WithParamInterface<std::string> {
 protected:
  Evaluate() : path_(testing::TempDir() + "evaluate-" + std::to_string(getpid()) + ".safetensors") {
    golden_ = nlohmann::json::parse(std::ifstream(std::string(CHEXBENCH_GOLDEN) + "/probabilities.json"));
  }
  ~Evaluate() override { std::filesystem::remove(path_); }

  // Writes the weights of the golden values, as another program would: without a word on the network.
  void write_weights(const std::string& network) const {
    engine::EngineConfig config;
    config.model.name = network;
    config.model.image_size = 64;
    config.training.batch_size = 1;
    config.cores = usable_cores();
    const auto engine = engine::make_engine("onednn", config);
    const model::WeightSource formula = model::formula_weights(golden_.at("salt"));
    std::vector<spec::TensorToWrite> tensors;
    for (const auto& infos : {engine->parameters(), engine->buffers()}) {
      for (const model::TensorInfo& info : infos) {
        tensors.push_back({.name = info.name, .shape = info.shape, .fill = [info, formula](std::span<float> values) {
                             formula(info, values);
                           }});
      }
    }
    spec::write_safetensors(path_, tensors, {});
  }

  // Compares the probabilities of all images with those of the network in `golden`.
  void compare(const std::string& network, const nlohmann::json& golden, bool ten_crop) const {
    write_weights(network);
    const auto world = comm::join_world();
    const EvaluationResult result = evaluate(*world, {.checkpoint = path_,
                                                      .root = CHEXBENCH_TEST_DATA,
                                                      .split = "all",
                                                      .overrides = {"model.name=" + network, "engine=onednn"},
                                                      .ten_crop = ten_crop});
    const nlohmann::json& expected = golden.at(network);
    ASSERT_EQ(result.rows.size(), expected.size());
    for (const ScoreRow& row : result.rows) {
      const std::vector<double> probabilities = expected.at(row.file);
      ASSERT_EQ(row.probabilities.size(), probabilities.size());
      for (std::size_t f = 0; f < probabilities.size(); ++f)
        EXPECT_NEAR(row.probabilities[f], probabilities[f], 1e-4) << row.file << ", " << result.labels[f];
    }
  }

  const std::string path_;
  nlohmann::json golden_;
};

TEST_P(Evaluate, GivesTheProbabilitiesOfTorchvision) { compare(GetParam(), golden_.at("networks"), false); }

INSTANTIATE_TEST_SUITE_P(Golden, Evaluate, testing::Values("densenet121", "mobilenet_v2"), ParamName());

TEST_F(Evaluate, AveragesTheCropsOfTorchvision) { compare("mobilenet_v2", golden_.at("ten_crop"), true); }

class ClassActivation : public Evaluate {};

TEST_P(ClassActivation, IsThatOfTorchvision) {
  write_weights(GetParam());
  const auto golden = nlohmann::json::parse(std::ifstream(std::string(CHEXBENCH_GOLDEN) + "/class_activation.json"));
  ASSERT_EQ(golden.at("salt"), golden_.at("salt"));
  const std::string image = golden.at("image");
  const auto world = comm::join_world();
  const EvaluationResult result = evaluate(*world, {.checkpoint = path_,
                                                    .images = {std::string(CHEXBENCH_TEST_DATA) + "/images/" + image},
                                                    .overrides = {"model.name=" + GetParam(), "engine=onednn"},
                                                    .cam = true});
  const int step = golden.at("step"), size = result.image_size;
  for (std::size_t which = 0; which < golden.at("labels").size(); ++which) {
    const std::vector<float> expected = golden.at("maps").at(GetParam()).at(which);
    const std::vector<float>& map = result.rows.at(0).activations.at(golden.at("labels").at(which));
    ASSERT_EQ(map.size(), static_cast<std::size_t>(size * size));
    const float tolerance =
        1e-4f * std::abs(*std::ranges::max_element(expected, {}, [](float v) { return std::abs(v); }));
    std::size_t at = 0;
    for (int y = 0; y < size; y += step) {
      for (int x = 0; x < size; x += step, ++at)
        EXPECT_NEAR(map[static_cast<std::size_t>(y * size + x)], expected.at(at), tolerance) << y << ' ' << x;
    }
    EXPECT_EQ(at, expected.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, ClassActivation, testing::Values("densenet121", "resnet50", "mobilenet_v2"),
                         ParamName());

}  // namespace
}  // namespace chexbench::verbs

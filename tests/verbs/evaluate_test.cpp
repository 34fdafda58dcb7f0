// Compares the probabilities of real X-rays with those of torchvision's networks, which tests/golden keeps.
#include "verbs/evaluate/evaluate.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

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

  // Writes the weights of the golden values, like another program: without metadata about the network.
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

TEST_P(Evaluate, GivesTheClassActivationMapsOfTorchvision) {
  const nlohmann::json& golden = golden_.at("class_maps").at(GetParam());
  const std::string file = golden.at("file");
  write_weights(GetParam());
  const auto world = comm::join_world();
  const EvaluationResult result = evaluate(*world, {.checkpoint = path_,
                                                    .images = {CHEXBENCH_TEST_DATA "/images/" + file},
                                                    .overrides = {"model.name=" + GetParam()},
                                                    .class_maps = 14});
  const ScoreRow& row = result.rows.at(0);
  const std::vector<double> probabilities = golden_.at("networks").at(GetParam()).at(file);
  for (std::size_t f = 0; f < probabilities.size(); ++f) EXPECT_NEAR(row.probabilities[f], probabilities[f], 1e-4);
  ASSERT_EQ(row.maps.size(), 14u);
  const ClassMap& most_probable = row.maps.front();
  EXPECT_EQ(most_probable.label, golden.at("label"));
  const std::vector<float> expected = golden.at("values");
  ASSERT_EQ(most_probable.values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(most_probable.values[i], expected[i], 1e-3) << i;
  EXPECT_EQ(row.seen.size(), 224u * 224);
}

INSTANTIATE_TEST_SUITE_P(Golden, Evaluate, testing::Values("densenet121", "mobilenet_v2"), ParamName());

TEST_F(Evaluate, AveragesTheCropsOfTorchvision) { compare("mobilenet_v2", golden_.at("ten_crop"), true); }

}  // namespace
}  // namespace chexbench::verbs

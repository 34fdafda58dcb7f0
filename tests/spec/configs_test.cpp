// Tests the experiments that come with the project.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "spec/pipeline_list.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::ElementsAre;

const std::filesystem::path kConfigs = CHEXBENCH_CONFIGS;

std::vector<Trial> trials_of_file(const std::string& name) { return expand(load_spec(kConfigs / (name + ".json"))); }

std::vector<std::filesystem::path> experiment_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"experiments", "measurements"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kConfigs / folder)) files.push_back(entry.path());
  }
  return files;
}

TEST(Experiments, AreReadAndCarryTheirFilesNames) {
  ASSERT_GE(experiment_files().size(), 7u);
  for (const std::filesystem::path& path : experiment_files()) {
    EXPECT_EQ(load_spec(path).base.name, path.stem()) << path;
  }
}

TEST(Experiments, BeginWithWhatTheyAnswer) {
  for (const std::filesystem::path& path : experiment_files()) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    EXPECT_THAT(line, testing::StartsWith("// ")) << path;
  }
}

TEST(Experiments, OfTheMainJobComparePipelinesAndFormats) {
  const auto trials = trials_of_file("experiments/naive-vs-optimized");
  EXPECT_THAT(names_of(trials),
              ElementsAre("naive images", "naive tfrecord", "optimized images", "optimized tfrecord"));
  for (const Trial& trial : trials) {
    EXPECT_EQ(trial.spec.engine, "auto");
    EXPECT_EQ(trial.spec.model.name, "resnet50");
  }
}

TEST(Experiments, OfQuickstartMeasureOneAndTwoRanks) {
  for (const std::string name : {"measurements/quickstart-input", "measurements/quickstart-v100"})
    EXPECT_EQ(trials_of_file(name).size(), 8u) << name;
  EXPECT_EQ(trials_of_file("measurements/quickstart-input")[0].spec.engine, "none");
  EXPECT_EQ(trials_of_file("measurements/quickstart-v100")[0].spec.engine, "emulated:v100");
}

TEST(Experiments, OfQuickstartHaveTheRepeatsThatGiveAnIntervalAndEndInTwoMinutes) {
  for (const std::string name :
       {"measurements/quickstart-input", "measurements/quickstart-v100", "measurements/quickstart-training"}) {
    for (const Trial& trial : trials_of_file(name)) {
      EXPECT_GE(trial.spec.measure.repeats, 5) << name;
      EXPECT_LE(trial.spec.measure.max_total_seconds.value_or(1e9), 120) << name;
    }
  }
}

TEST(Experiments, WarmUpForLongerThanNaiveHoldsBatchesReady) {
  for (const std::string name : {"measurements/quickstart-input", "measurements/quickstart-v100", "experiments/scaling",
                                 "experiments/formats"}) {
    for (const Trial& trial : trials_of_file(name)) {
      EXPECT_GT(trial.spec.measure.warmup_steps, trial.spec.training.batch_size) << name;
    }
  }
}

}  // namespace
}  // namespace chexbench::spec

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/journal.hpp"
#include "bench/plan.hpp"
#include "bench/protocol.hpp"
#include "core/errors.hpp"
#include "spec/parse.hpp"

namespace chexbench::bench {
namespace {

constexpr const char* kSpec = R"({
  "experiment": "test",
  "model": { "image_size": 32 }, "training": { "batch_size": 4 }, "engine": "none", "cores_per_rank": 1,
  "measure": { "warmup_steps": 1, "steps": 3, "repeats": 2 },
  "sweep": { "pipeline": ["naive", "optimized"] }
})";

class ProtocolTest : public testing::Test {
 protected:
  ProtocolTest()
      : journal_path_(testing::TempDir() + "protocol-" + std::to_string(getpid()) + ".jsonl"),
        world_(comm::join_world()) {
    std::filesystem::remove(journal_path_);
  }
  ~ProtocolTest() override { std::filesystem::remove(journal_path_); }

  report::Report plan(std::vector<std::string> overrides = {}) {
    overrides.push_back(std::string("data.root=") + CHEXBENCH_TEST_DATA);
    return plan_report("test", spec::expand(spec::parse_spec(kSpec, "test.json", overrides)), *world_);
  }
  void run(report::Report& report) { run_trials(report, *world_, {.journal_path = journal_path_}); }

  const std::string journal_path_;
  const std::unique_ptr<comm::World> world_;
};

TEST_F(ProtocolTest, MeasuresEveryTrialAsOftenAsAsked) {
  report::Report report = plan();
  ASSERT_EQ(report.trials.size(), 2u);
  EXPECT_TRUE(report.trials[0].partial);
  run(report);
  for (const report::TrialResult& trial : report.trials) {
    ASSERT_EQ(trial.repeats.size(), 2u) << trial.trial;
    EXPECT_EQ(trial.repeats[1].repeat, 1);
    EXPECT_GT(trial.repeats[0].images_per_s, 0);
    EXPECT_FALSE(trial.partial);
    EXPECT_EQ(trial.cores_per_rank, 1);
  }
}

TEST_F(ProtocolTest, LetsArmsTakeTurns) {
  report::Report report = plan();
  run(report);
  std::vector<std::string> keys;
  std::ifstream journal(journal_path_);
  for (std::string line; std::getline(journal, line);) {
    keys.push_back(line.find(report.trials[0].key) != std::string::npos ? "A" : "B");
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"A", "B", "A", "B"}));
}

TEST_F(ProtocolTest, TakesFromTheJournalWhatWasMeasuredBefore) {
  report::Report report = plan();
  report::RepeatResult known;
  known.repeat = 0;
  known.images_per_s = 12345;
  Journal(journal_path_).append(report.trials[1].key, known);
  run(report);
  ASSERT_EQ(report.trials[1].repeats.size(), 2u);
  EXPECT_DOUBLE_EQ(report.trials[1].repeats[0].images_per_s, 12345);
  EXPECT_NE(report.trials[1].repeats[1].images_per_s, 12345);
}

TEST_F(ProtocolTest, EndsATrialWhoseTimeIsUsedUpWithWhatItHas) {
  report::Report report = plan({"measure.max_seconds=0.000001", "measure.repeats=50"});
  run(report);
  for (const report::TrialResult& trial : report.trials) {
    EXPECT_EQ(trial.repeats.size(), 1u);
    EXPECT_FALSE(trial.partial);
  }
}

TEST_F(ProtocolTest, KeepsWhatWasMeasuredWhenATrialFails) {
  report::Report report = plan();
  report.trials[1].spec.data.root = "/nowhere";
  report.trials[1].spec.training.batch_size = 2;  // a group of its own, behind the first
  EXPECT_THROW(run(report), DataError);
  EXPECT_EQ(report.trials[0].repeats.size(), 2u);
  EXPECT_TRUE(report.trials[1].partial);
}

TEST_F(ProtocolTest, RefusesMoreRanksThanWereStarted) {
  try {
    plan({"ranks=4"});
    FAIL() << "four ranks in a world of one";
  } catch (const SpecError& error) {
    EXPECT_NE(std::string(error.what()).find("mpirun -np 4"), std::string::npos) << error.what();
  }
}

TEST_F(ProtocolTest, GivesATrialThatDiffersAnotherKey) {
  const report::Report report = plan();
  EXPECT_NE(report.trials[0].key, report.trials[1].key);
  EXPECT_EQ(report.trials[0].key, plan().trials[0].key);
}

}  // namespace
}  // namespace chexbench::bench

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/journal.hpp"
#include "bench/plan.hpp"
#include "bench/protocol.hpp"
#include "bench/stopping.hpp"
#include "core/errors.hpp"
#include "dataset/make/convert.hpp"
#include "spec/parse.hpp"

namespace chexbench::bench {
namespace {

using testing::Contains;
using testing::HasSubstr;

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

  results::Report plan(std::vector<std::string> overrides = {}) {
    overrides.push_back(std::string("data.root=") + CHEXBENCH_TEST_DATA);
    return plan_report("test", spec::expand(spec::parse_spec(kSpec, "test.json", overrides)), *world_);
  }
  void run(results::Report& report) {
    run_trials(report, *world_, {.journal_path = journal_path_, .tuning = {.window_s = 0, .most_rounds = 1}});
  }

  const std::string journal_path_;
  const std::unique_ptr<comm::World> world_;
};

TEST_F(ProtocolTest, MeasuresEveryTrialAsOftenAsAsked) {
  results::Report report = plan();
  ASSERT_EQ(report.trials.size(), 2u);
  EXPECT_TRUE(report.trials[0].partial);
  run(report);
  for (const results::TrialResult& trial : report.trials) {
    ASSERT_EQ(trial.repeats.size(), 2u) << trial.name;
    EXPECT_EQ(trial.repeats[1].repeat, 1);
    EXPECT_GT(trial.repeats[0].images_per_s, 0);
    EXPECT_FALSE(trial.partial);
    EXPECT_EQ(trial.cores_per_rank, 1);
  }
}

TEST_F(ProtocolTest, NamesTheHostsOfItsRanksAndTheLibrariesThatItLoaded) {
  results::Report report = plan({"measure.repeats=1"});
  EXPECT_TRUE(report.environment.libraries.empty()) << "nobody knows before the trials";
  run(report);
  ASSERT_EQ(report.environment.hosts.size(), 1u);
  const results::HostState& host = report.environment.hosts.front();
  EXPECT_EQ(host.host, report.environment.host);
  EXPECT_EQ(host.cpu, report.environment.cpu);
  EXPECT_EQ(host.kernel, report.environment.kernel);
  EXPECT_EQ(host.governors, report.environment.governors);
  EXPECT_EQ(measure::to_string(host.nics), measure::to_string(measure::find_network_interfaces()));
  std::vector<std::string> names;
  for (const auto& [name, version] : report.environment.libraries) {
    names.push_back(name);
    EXPECT_TRUE(name != "oneDNN" || !version) << "engine none needs none";
  }
  EXPECT_EQ(names, (std::vector<std::string>{"MPI", "NCCL", "CUDA driver", "CUDA runtime", "cuBLASLt", "cuDNN",
                                             "oneDNN", "OpenCV"}));
}

TEST_F(ProtocolTest, LetsArmsTakeTurns) {
  results::Report report = plan();
  run(report);
  std::vector<std::string> keys;
  std::ifstream journal(journal_path_);
  for (std::string line; std::getline(journal, line);) {
    keys.push_back(line.find(report.trials[0].key) != std::string::npos ? "A" : "B");
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"A", "B", "A", "B"}));
}

TEST_F(ProtocolTest, FindsWhatAutoStandsForOnceAndRunsAllRepeatsWithIt) {
  results::Report report = plan({"sweep=null", "pipeline=naive", "pipeline.map.parallel_calls=auto"});
  run(report);
  const results::TrialResult& trial = report.trials.at(0);
  ASSERT_EQ(trial.repeats.size(), 2u);
  ASSERT_EQ(trial.repeats[0].tunings.size(), 1u);
  const results::OpTuning& tuning = trial.repeats[0].tunings[0];
  EXPECT_EQ(tuning.op_index, 2);
  EXPECT_EQ(tuning.op, "map");
  EXPECT_EQ(tuning.parameter, "parallel_calls");
  EXPECT_FALSE(tuning.reason.empty());
  ASSERT_GE(tuning.points.size(), 2u);
  for (const results::TuningPoint& point : tuning.points) EXPECT_GT(point.images_per_s, 0) << point.value;
  EXPECT_EQ(trial.repeats[1].tunings.at(0).reason, tuning.reason);
  EXPECT_EQ(trial.repeats[0].ops.at(2).queue_capacity, tuning.value > 1 ? tuning.value : 0) << "what ran had the value";
}

TEST_F(ProtocolTest, GoesOnWithWhatAutoStoodForInTheJournal) {
  results::Report report = plan({"sweep=null", "pipeline=naive", "pipeline.map.parallel_calls=auto"});
  results::RepeatResult known;
  known.tunings = {{.op_index = 2, .op = "map", .parameter = "parallel_calls", .value = 48, .reason = "known"}};
  Journal(journal_path_).append(report.trials[0].key, known);
  run(report);
  ASSERT_EQ(report.trials[0].repeats.size(), 2u);
  EXPECT_EQ(report.trials[0].repeats[1].tunings.at(0).reason, "known");
  EXPECT_EQ(report.trials[0].repeats[1].ops.at(2).queue_capacity, 48u);
}

TEST_F(ProtocolTest, LeavesNothingToFindWhereNumbersAreStated) {
  results::Report report = plan({"measure.repeats=1"});
  run(report);
  for (const results::TrialResult& trial : report.trials) EXPECT_TRUE(trial.repeats.at(0).tunings.empty());
}

TEST_F(ProtocolTest, TakesFromTheJournalWhatWasMeasuredBefore) {
  results::Report report = plan();
  results::RepeatResult known;
  known.repeat = 0;
  known.images_per_s = 12345;
  Journal(journal_path_).append(report.trials[1].key, known);
  run(report);
  ASSERT_EQ(report.trials[1].repeats.size(), 2u);
  EXPECT_DOUBLE_EQ(report.trials[1].repeats[0].images_per_s, 12345);
  EXPECT_NE(report.trials[1].repeats[1].images_per_s, 12345);
}

TEST_F(ProtocolTest, TakesAllArmsThroughAnotherRoundIfOneOfThemIsUnstable) {
  results::Report report = plan({"measure.repeats=5", "measure.extra_repeats=1"});
  for (int repeat = 0; repeat < 5; ++repeat) {
    Journal journal(journal_path_);
    journal.append(report.trials[1].key, {.repeat = repeat, .images_per_s = 100});
    journal.append(report.trials[0].key, {.repeat = repeat, .images_per_s = repeat == 4 ? 300.0 : 100.0});
  }
  run(report);
  for (const results::TrialResult& trial : report.trials) {
    ASSERT_EQ(trial.repeats.size(), 5u + kCheapExtra) << trial.name << ": it stays unstable";
    EXPECT_EQ(trial.repeats.back().repeat, 4 + kCheapExtra);
    EXPECT_FALSE(trial.partial);
  }
}

// A copy of the shipped X-rays in every format.
class PageCacheOfFormats : public ProtocolTest {
 protected:
  PageCacheOfFormats() : root_(testing::TempDir() + "formats-" + std::to_string(getpid())) {
    std::filesystem::copy(CHEXBENCH_TEST_DATA, root_, std::filesystem::copy_options::recursive);
    using enum spec::DataFormat;
    for (const auto format : {tfrecord, webdataset, cached}) {
      dataset::convert_data_set({.root = root_, .format = format, .pixels = {.image_size = 32}});
    }
  }
  ~PageCacheOfFormats() override { std::filesystem::remove_all(root_); }

  results::Report measure(const std::string& state) {
    constexpr const char* kFormats = R"({
      "experiment": "test", "data": { "deliver": "u8" }, "model": { "image_size": 32 }, "engine": "none",
      "training": { "batch_size": 4 }, "measure": { "warmup_steps": 0, "steps": 3, "repeats": 2 },
      "sweep": { "data.format": ["images", "tfrecord", "webdataset", "cached"] } })";
    const std::vector<std::string> overrides{"data.root=" + root_, "measure.page_cache=" + state};
    results::Report report =
        plan_report("test", spec::expand(spec::parse_spec(kFormats, "test.json", overrides)), *world_);
    run(report);
    return report;
  }
  bool on_tmpfs() const {
    struct statfs system {};
    return statfs(root_.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
  }
  const std::string root_;
};

TEST_F(PageCacheOfFormats, ColdFilesAreReadAgainInEachRepeat) {
  if (on_tmpfs()) GTEST_SKIP() << root_ << " is a file system in memory";
  for (const results::TrialResult& trial : measure("cold").trials) {
    ASSERT_EQ(trial.repeats.size(), 2u);
    for (const results::RepeatResult& repeat : trial.repeats) {
      EXPECT_EQ(repeat.page_cache, "cold") << trial.name;
      EXPECT_EQ(repeat.cached_bytes_before, 0u) << trial.name;
      EXPECT_GT(repeat.cached_bytes_after, 0u) << trial.name;
      EXPECT_GE(repeat.looked_at_bytes, trial.data.file_bytes) << trial.name;
    }
  }
}

TEST_F(PageCacheOfFormats, WarmFilesAreAllInMemory) {
  for (const results::TrialResult& trial : measure("warm").trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      EXPECT_EQ(repeat.page_cache, "warm") << trial.name;
      EXPECT_EQ(repeat.cached_bytes_before, repeat.looked_at_bytes) << trial.name;
    }
  }
}

TEST_F(ProtocolTest, EndsATrialWhoseTimeIsUsedUpWithWhatItHas) {
  results::Report report = plan({"measure.max_seconds=0.000001", "measure.repeats=50"});
  run(report);
  for (const results::TrialResult& trial : report.trials) {
    EXPECT_EQ(trial.repeats.size(), 1u);
    EXPECT_TRUE(trial.partial);
  }
}

TEST_F(ProtocolTest, MeasuresEachTrialOnceWhereTheRunsTimeIsUsedUpAndSaysSo) {
  results::Report report = plan({"measure.max_total_seconds=0.000001", "measure.repeats=50"});
  run(report);
  for (const results::TrialResult& trial : report.trials) {
    EXPECT_EQ(trial.repeats.size(), 1u);
    EXPECT_TRUE(trial.partial);
    EXPECT_THAT(trial.notes,
                Contains(HasSubstr("1 of 50 repeats on 1 rank because measure.max_total_seconds, 1e-06 s")));
  }
}

TEST_F(ProtocolTest, KeepsWhatWasMeasuredWhenATrialFails) {
  results::Report report = plan();
  report.trials[1].spec.data.root = "/nowhere";
  report.trials[1].spec.training.batch_size = 2;  // a separate group, after the first
  EXPECT_THROW(run(report), DataError);
  EXPECT_EQ(report.trials[0].repeats.size(), 2u);
  EXPECT_FALSE(report.environment.libraries.empty()) << "of what was measured until then";
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
  const results::Report report = plan();
  EXPECT_NE(report.trials[0].key, report.trials[1].key);
  EXPECT_EQ(report.trials[0].key, plan().trials[0].key);
}

}  // namespace
}  // namespace chexbench::bench

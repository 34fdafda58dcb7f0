// Trials on an engine whose GPU is the scripted stand-in of NVML's library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis/derive.hpp"
#include "bench/journal.hpp"
#include "bench/plan.hpp"
#include "bench/protocol.hpp"
#include "bench/step_observer.hpp"
#include "bench/trial.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/tensorless.hpp"
#include "results/figures.hpp"
#include "results/gpu_summary.hpp"
#include "spec/parse.hpp"

namespace chexbench::bench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;
using testing::StartsWith;

// Steps that take a time and compute nothing, as if on a GPU.
class PacedEngine final : public engine::TensorlessEngine {
 public:
  struct Options {
    std::string gpu_uuid = "GPU-standin-0";
    double step_s = 0.02;
    int failing_step = -1;  // since construction, warm-up included
  };
  explicit PacedEngine(const Options& options)
      : options_(options), traits_{.name = "paced", .gpu_uuid = options.gpu_uuid} {}

  const engine::EngineTraits& traits() const override { return traits_; }
  void step(BatchLease, Reducer&) override {
    if (begun_++ == options_.failing_step) throw DeviceError("step failed");
    sleep_until_s(now_s() + options_.step_s);
    const double end_s = now_s();
    timings_ = {.wall_s = end_s - last_end_s_, .end_s = end_s, .images = 4};
    last_end_s_ = end_s;
    ++finished_;
  }
  void finish() override {}
  const measure::StepTimings& timings() const override { return timings_; }
  std::int64_t steps_finished() const override { return finished_; }
  void restart() override {
    finished_ = 0;
    last_end_s_ = now_s();
  }
  std::size_t held_bytes() const override { return 0; }

 private:
  const Options options_;
  const engine::EngineTraits traits_;
  measure::StepTimings timings_;
  int begun_ = 0;
  std::int64_t finished_ = 0;
  double last_end_s_ = now_s();
};

constexpr const char* kSpec = R"({
  "experiment": "test", "pipeline": "optimized",
  "model": { "image_size": 32 }, "training": { "batch_size": 4 }, "engine": "none", "cores_per_rank": 1,
  "measure": { "warmup_steps": 2, "steps": 3, "repeats": 2 }
})";

class GpuTrialTest : public testing::Test {
 protected:
  GpuTrialTest()
      : stem_(testing::TempDir() + "gpu-trial-" + std::to_string(getpid())),
        journal_path_(stem_ + ".jsonl"),
        world_(comm::join_world()) {
    script("");
  }
  ~GpuTrialTest() override {
    unsetenv("CHEXBENCH_NVML_LIBRARY");
    unsetenv("CHEXBENCH_NVML_STANDIN");
    std::filesystem::remove(stem_ + ".script");
    std::filesystem::remove(journal_path_);
  }

  // Sets the stand-in's answers from now on, see measure/nvml_standin.hpp.
  void script(const std::string& lines) const {
    std::ofstream(stem_ + ".script") << lines;
    setenv("CHEXBENCH_NVML_STANDIN", (stem_ + ".script").c_str(), 1);
    setenv("CHEXBENCH_NVML_LIBRARY", CHEXBENCH_NVML_STANDIN_RECENT, 1);
  }

  // A script in which every sample finds another error, however many samples there are before a window.
  static std::string one_ecc_error_a_sample() {
    std::ostringstream line("ecc", std::ios::ate);
    for (int errors = 0; errors < 1000; ++errors) line << ' ' << errors;
    return line.str();
  }

  results::Report plan(std::vector<std::string> overrides = {}) const {
    overrides.push_back(std::string("data.root=") + CHEXBENCH_TEST_DATA);
    return plan_report("test", spec::expand(spec::parse_spec(kSpec, "test.json", overrides)), *world_);
  }
  void run(results::Report& report, const PacedEngine::Options& options = {}) const {
    const auto make = [&](const auto&, const auto&) { return std::make_unique<PacedEngine>(options); };
    run_trials(report, *world_, {.journal_path = journal_path_, .make_engine = make});
  }
  // The first repeat of a trial.
  results::RepeatResult measure(const PacedEngine::Options& options = {}) const {
    results::Report report = plan({"measure.repeats=1"});
    run(report, options);
    return report.trials.at(0).repeats.at(0);
  }

  const std::string stem_;
  const std::string journal_path_;
  const std::unique_ptr<comm::World> world_;
};

TEST_F(GpuTrialTest, ARepeatKeepsTheSamplesOfItsWindowAndOneOnEitherSide) {
  script("gpus 2");
  const results::RepeatResult repeat = measure({.gpu_uuid = "GPU-standin-1", .step_s = 0.15});
  ASSERT_THAT(repeat.gpus, SizeIs(1));
  const results::GpuSeries& gpu = repeat.gpus[0];
  EXPECT_EQ(gpu.name, "Stand-in GPU");
  EXPECT_EQ(gpu.uuid, "GPU-standin-1");
  EXPECT_EQ(gpu.problem, "");
  const auto window = results::measured_window(repeat, 0);
  ASSERT_TRUE(window);
  EXPECT_NEAR(window->end_s - window->begin_s, repeat.wall_s, 1e-9);
  ASSERT_GE(gpu.samples.size(), 3u);  // 450 ms, a sample every 100 ms
  EXPECT_LT(gpu.samples[0].time_s, window->begin_s);
  EXPECT_GE(gpu.samples[1].time_s, window->begin_s);
  EXPECT_LE(gpu.samples[gpu.samples.size() - 2].time_s, window->end_s);
  EXPECT_GT(gpu.samples.back().time_s, window->end_s);
}

TEST_F(GpuTrialTest, FiguresAreThoseOfTheGpuInUnitsOfTheReport) {
  script("power 250000\nsm_clock 1500\nmemory_used 4096\ntemperature 71\nreasons 0x4");
  results::Report report = plan({"measure.repeats=1", "measure.warmup_steps=0"});
  run(report, {.step_s = 0.5});
  const results::Figures figures = analysis::derive_figures(report.trials[0], report.trials);
  EXPECT_NEAR(figures.gpu.mean_utilization.value_or(-1), 0.9, 1e-12);
  EXPECT_NEAR(figures.gpu.mean_memory_utilization.value_or(-1), 0.4, 1e-12);
  EXPECT_THAT(figures.gpu.mean_power_w, Optional(250.0));
  EXPECT_THAT(figures.gpu.lowest_sm_clock_hz, Optional(1.5e9));
  EXPECT_THAT(figures.gpu.peak_memory_used_bytes, Optional(4096u));
  EXPECT_THAT(figures.gpu.highest_temperature_c, Optional(71.0));
  EXPECT_THAT(figures.gpu.throttled_share, Optional(1.0));
  EXPECT_THAT(figures.gpu.new_uncorrected_ecc_errors, Optional(0u));
}

TEST_F(GpuTrialTest, AnEngineWithoutAGpuIsNotSampled) { EXPECT_THAT(measure({.gpu_uuid = ""}).gpus, IsEmpty()); }

TEST_F(GpuTrialTest, WhereNvmlDoesNotAnswerTheTrialGoesOnAndWarnsOnce) {
  script("init !9");
  results::Report report = plan({"sweep.pipeline=[\"naive\",\"optimized\"]"});
  testing::internal::CaptureStderr();
  run(report);
  const std::string log = testing::internal::GetCapturedStderr();
  const std::size_t first = log.find("the GPU figures of rank 0");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("the GPU figures", first + 1), std::string::npos) << log;
  for (const results::TrialResult& trial : report.trials) {
    ASSERT_THAT(trial.repeats, SizeIs(2));
    const results::RepeatResult& repeat = trial.repeats[1];
    EXPECT_THAT(repeat.steps, SizeIs(3));
    ASSERT_THAT(repeat.gpus, SizeIs(1));
    EXPECT_THAT(repeat.gpus[0].problem, HasSubstr("Driver Not Loaded"));
    EXPECT_THAT(repeat.gpus[0].samples, IsEmpty());
    EXPECT_FALSE(analysis::derive_figures(trial, report.trials).gpu.mean_utilization);
  }
}

TEST_F(GpuTrialTest, AGpuThatNvmlDoesNotKnowIsNamed) {
  EXPECT_THAT(measure({.gpu_uuid = "GPU-other"}).gpus.at(0).problem, HasSubstr("GPU-other"));
}

TEST_F(GpuTrialTest, AGpuThatNvmlLosesKeepsItsSamplesAndTheTrialGoesOn) {
  script("utilization 50 50 50 !15");
  const results::RepeatResult repeat = measure({.step_s = 0.15});
  EXPECT_THAT(repeat.steps, SizeIs(3));
  EXPECT_THAT(repeat.gpus.at(0).problem, HasSubstr("GPU is lost"));
  EXPECT_THAT(repeat.gpus.at(0).samples, testing::Not(IsEmpty()));
}

// The window is shorter than the time between samples: the samples at the repeat's two ends are used.
TEST_F(GpuTrialTest, EccErrorsInAShortWindowAreNotedAndNothingIsLost) {
  script(one_ecc_error_a_sample());
  results::Report report = plan({"measure.repeats=1"});
  report.trials[0].notes = {"an earlier run's"};
  run(report, {.step_s = 0.001});
  EXPECT_THAT(report.trials[0].repeats, SizeIs(1));
  EXPECT_FALSE(report.trials[0].partial);
  EXPECT_THAT(report.trials[0].notes,
              ElementsAre(AllOf(StartsWith("repeat 0, rank 0: "), HasSubstr(" uncorrected ECC error"),
                                HasSubstr(" on GPU-standin-0: its results may be wrong"))));
}

TEST_F(GpuTrialTest, WhatTheJournalHoldsIsResumedWithSamplesAndNotes) {
  script(one_ecc_error_a_sample());
  results::Report first = plan({"measure.repeats=1"});
  run(first);
  script("ecc 6");
  results::Report second = plan({"measure.repeats=1"});
  run(second);
  ASSERT_THAT(first.trials[0].notes, SizeIs(1));
  EXPECT_EQ(second.trials[0].notes, first.trials[0].notes);
  ASSERT_THAT(second.trials[0].repeats.at(0).gpus, SizeIs(1));
  EXPECT_EQ(second.trials[0].repeats[0].gpus[0].samples, first.trials[0].repeats[0].gpus[0].samples);
}

TEST_F(GpuTrialTest, AnErrorOfTheDeviceSaysWhatNvmlKnowsAndKeepsEarlierRepeats) {
  script(one_ecc_error_a_sample());
  results::Report report = plan();
  try {
    run(report, {.step_s = 0.001, .failing_step = 7});
    FAIL() << "nothing thrown";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith("step failed (NVML: "), HasSubstr(" uncorrected ECC error"),
                                    EndsWith(" on GPU-standin-0)")));
  }
  EXPECT_THAT(report.trials[0].repeats, SizeIs(1));
  EXPECT_TRUE(report.trials[0].partial);
  EXPECT_THAT(report.trials[0].notes, ElementsAre(HasSubstr("repeat 0, rank 0"),
                                                  AllOf(HasSubstr("repeat 1 failed: step failed"), HasSubstr("ECC"))));
}

TEST_F(GpuTrialTest, AnErrorThatNvmlKnowsNothingOfStaysAsItIs) {
  results::Report report = plan();
  try {
    run(report, {.failing_step = 2});
    FAIL() << "nothing thrown";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "step failed");
  }
  EXPECT_THAT(report.trials[0].notes, IsEmpty());
}

TEST_F(GpuTrialTest, TheReportNamesDriverAndGpus) {
  script("gpus 2");
  const results::Report report = plan();
  EXPECT_EQ(report.environment.gpu_driver, "580.65.06");
  EXPECT_THAT(report.environment.gpus, ElementsAre("Stand-in GPU", "Stand-in GPU"));
}

}  // namespace
}  // namespace chexbench::bench

// Compares an emulated run with the real run that its profile was made of. Both use the same measured seconds, so a
// busy machine does no harm.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/plan.hpp"
#include "bench/protocol.hpp"
#include "measure/statistics.hpp"
#include "verbs/calibrate/calibrate.hpp"

namespace chexbench::verbs {
namespace {

double median_images_per_s(const results::TrialResult& trial) {
  std::vector<double> images_per_s;
  for (const results::RepeatResult& repeat : trial.repeats) images_per_s.push_back(repeat.images_per_s);
  return measure::median(images_per_s);
}

double wait_share(const results::TrialResult& trial) {
  double wait_s = 0;
  double wall_s = 0;
  for (const results::RepeatResult& repeat : trial.repeats) {
    for (const results::StepRecord& step : repeat.steps) {
      wait_s += step.timings.wait_s;
      wall_s += step.timings.wall_s;
    }
  }
  return wait_s / wall_s;
}

class CalibrationTest : public testing::Test {
 protected:
  CalibrationTest()
      : path_(testing::TempDir() + "calibration-" + std::to_string(getpid()) + ".json"), world_(comm::join_world()) {}
  ~CalibrationTest() override { std::filesystem::remove(path_); }

  results::Report measure_onednn() {
    results::Report report = plan_calibration({.engine = "onednn",
                                               .models = {"densenet121"},
                                               .batch_sizes = {2, 6},
                                               .image_size = 32,
                                               .warmup_steps = 1,
                                               .steps = 6,
                                               .repeats = 3},
                                              *world_);
    bench::run_trials(report, *world_, {});
    return report;
  }

  // The same trial, but emulated from the profile.
  results::TrialResult emulate(const results::TrialResult& trial) {
    spec::TrialSpec experiment = trial.spec;
    experiment.engine = "emulated:" + path_;
    results::Report report = bench::plan_report("emulated", {{trial.name, experiment}}, *world_);
    bench::run_trials(report, *world_, {});
    return report.trials.front();
  }

  const std::string path_;
  const std::unique_ptr<comm::World> world_;
};

TEST_F(CalibrationTest, AnEmulatedRunHasTheRealRunsImagesPerSecondAndPhases) {
  const results::Report real = measure_onednn();
  std::ofstream(path_) << spec::to_json(make_profile(real, "mine"));
  for (const results::TrialResult& trial : real.trials) {
    const results::TrialResult emulated = emulate(trial);
    EXPECT_NEAR(median_images_per_s(emulated) / median_images_per_s(trial), 1, 0.05)
        << trial.name << ", waits " << wait_share(trial) << " real, " << wait_share(emulated) << " emulated";
    const measure::StepTimings& step = emulated.repeats.front().steps.front().timings;
    EXPECT_GT(step.update_s, 0);
    EXPECT_GT(step.backward_s, 0.5 * step.forward_s);
    EXPECT_NE(emulated.engine_source.find("measured by chexbench"), std::string::npos);
  }
}

}  // namespace
}  // namespace chexbench::verbs

#include "verbs/calibrate/calibrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/errors.hpp"

namespace chexbench::verbs {
namespace {

using testing::HasSubstr;

// Forward and backward take 0.25 s x scale and other things 0.125 s x scale; 0.5 s of waiting must not count.
results::StepRecord step_of(double scale, double update_s) {
  results::StepRecord step;
  step.timings = {.wall_s = 0.375 * scale + 0.25 + 0.25 + update_s,
                  .wait_s = 0.25,
                  .compute_s = 0.25 * scale,
                  .exposed_communication_s = 0.25,
                  .update_s = update_s,
                  .other_s = 0.125 * scale,
                  .forward_s = 0.0625 * scale,
                  .backward_s = 0.1875 * scale};
  return step;
}

results::Report measured(double update_s) {
  results::Report report;
  report.environment = {.chexbench_version = "1.2.3", .date_utc = "2026-01-02", .host = "host", .cpu = "a CPU"};
  results::TrialResult trial;
  trial.spec.engine = "onednn";
  trial.spec.model.image_size = 64;
  trial.spec.training.batch_size = 3;
  trial.spec.measure.steps = 2;
  trial.ranks = 2;
  trial.engine_device = "a device";
  for (const double scale : {1.0, 4.0, 2.0}) {  // each repeat has steps of half and one and a half times its scale
    results::RepeatResult repeat;
    repeat.steps = {step_of(0.5 * scale, update_s), step_of(1.5 * scale, update_s)};
    trial.repeats.push_back(repeat);
  }
  report.trials = {trial, trial};
  report.trials.back().repeats.clear();
  return report;
}

TEST(MakeProfile, TakesMediansOfRepeatsWithoutWaits) {
  const spec::AcceleratorProfile profile = make_profile(measured(0.125), "mine");
  EXPECT_EQ(profile.name, "mine");
  EXPECT_EQ(profile.device, "a device");
  ASSERT_EQ(profile.entries.size(), 1u) << "the trial without repeats has no entry";
  const spec::ProfileEntry& entry = profile.entries.front();
  EXPECT_EQ(entry.model, "resnet50");
  EXPECT_EQ(entry.image_size, 64);
  EXPECT_EQ(entry.batch_size, 3);
  EXPECT_DOUBLE_EQ(entry.images_per_s, 3 / 0.75);  // repeats take 0.375, 1.5 and 0.75 s
  EXPECT_DOUBLE_EQ(*entry.images_per_s_mad, 2);    // of 8, 2 and 4
  EXPECT_DOUBLE_EQ(entry.backward_share, 0.5);
  EXPECT_DOUBLE_EQ(entry.update_s, 0.125);
  EXPECT_FALSE(entry.includes_update);
  EXPECT_FALSE(entry.includes_communication);
}

TEST(MakeProfile, TakesAllPhasesFromTheRepeatOfMedianStep) {
  results::Report report = measured(0);
  std::vector<results::RepeatResult>& repeats = report.trials.front().repeats;
  for (std::size_t r = 0; r < repeats.size(); ++r) {  // 0.3 + 0.3, 0.5 + 0.05, 0.2 + 0.2 s
    results::StepRecord step;
    step.timings.update_s = std::array{0.3, 0.05, 0.2}[r];
    step.timings.wall_s = std::array{0.6, 0.55, 0.4}[r];
    repeats[r].steps = {step};
  }
  const spec::ProfileEntry entry = make_profile(report, "mine").entries.front();
  EXPECT_DOUBLE_EQ(entry.compute_s(), 0.5);
  EXPECT_DOUBLE_EQ(entry.update_s, 0.05);
  repeats.pop_back();
  EXPECT_DOUBLE_EQ(make_profile(report, "mine").entries.front().compute_s(), 0.4) << "the mean of two middle ones";
}

TEST(MakeProfile, SaysWhatWasMeasuredWhereAndWhen) {
  const std::string source = make_profile(measured(0.125), "mine").entries.front().source;
  for (const char* const part : {"measured by chexbench 1.2.3", "2026-01-02", "host (a CPU)", "engine onednn",
                                 "2 ranks of 1 core", "3 repeats of 2 steps", "adam"})
    EXPECT_THAT(source, HasSubstr(part));
}

TEST(MakeProfile, SaysThatTheTimeContainsAnUpdateThatTheEngineDoesNotTellApart) {
  const spec::ProfileEntry entry = make_profile(measured(0), "mine").entries.front();
  EXPECT_TRUE(entry.includes_update);
  EXPECT_NO_THROW(spec::parse_profile(spec::to_json({"mine", "a device", {entry}}), "mine.json"));
}

TEST(PlanCalibration, HasATrialOfReadyMadeBatchesForEachCombination) {
  const auto world = comm::join_world();
  const results::Report report = plan_calibration({.engine = "cuda",
                                                   .models = {"resnet50", "densenet121"},
                                                   .precisions = {spec::Precision::f32, spec::Precision::bf16},
                                                   .batch_sizes = {1, 2, 4},
                                                   .image_size = 32},
                                                  *world);
  ASSERT_EQ(report.trials.size(), 12u);
  EXPECT_EQ(report.trials.back().name, "densenet121 bf16 batch 4");
  for (const results::TrialResult& trial : report.trials) EXPECT_EQ(trial.spec.data.format, spec::DataFormat::ready);
}

TEST(PlanCalibration, RefusesWhatItCannotMeasure) {
  const auto world = comm::join_world();
  const auto plan = [&](const CalibrationRequest& request) { plan_calibration(request, *world); };
  EXPECT_THROW(plan({.engine = "none"}), SpecError);
  EXPECT_THROW(plan({.engine = "emulated:v100"}), SpecError);
  EXPECT_THROW(plan({.engine = "cuda", .models = {"resnet5"}}), SpecError);
  EXPECT_THROW(plan({.engine = "cuda", .batch_sizes = {4, 8, 4}}), SpecError);
}

}  // namespace
}  // namespace chexbench::verbs

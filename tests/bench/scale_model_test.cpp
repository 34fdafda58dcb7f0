#include "bench/scale_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/errors.hpp"
#include "results/record_factory.hpp"

namespace chexbench::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

spec::TrialSpec ten_cores(double core_speed = 1) {
  spec::TrialSpec spec;
  spec.emulation = {.cores_per_accelerator = 10, .core_speed = core_speed};
  return spec;
}

// The scale model of a trial of `ranks` ranks in a job of `started` ranks on two cores.
ScaleModel on_two_cores(const spec::TrialSpec& spec, int ranks, int started, double cpu_limit = kNoLimit) {
  const HostCores host{.cores = {0, 1}, .sharers = started};
  return scale_model_of(spec, host, share_cores(host, spec, ranks), ranks, cpu_limit);
}

TEST(ScaleModel, SlowsDownByWhatARankHasFewer) {
  EXPECT_DOUBLE_EQ(on_two_cores(ten_cores(), 16, 16).factor, 80);
  EXPECT_DOUBLE_EQ(on_two_cores(ten_cores(), 16, 16).cores, 0.125);
  EXPECT_DOUBLE_EQ(on_two_cores(ten_cores(), 2, 2).factor, 10);
  EXPECT_DOUBLE_EQ(on_two_cores(ten_cores(), 1, 1).factor, 5);
}

TEST(ScaleModel, OfASmallWorldInsideALargeOneUsesTheCoresThatItsRanksHave) {
  EXPECT_DOUBLE_EQ(on_two_cores(ten_cores(), 1, 16).factor, 10) << "one core, as in the large world";
  EXPECT_DOUBLE_EQ(on_two_cores(ten_cores(), 4, 16).factor, 20);
}

TEST(ScaleModel, KnowsLimitsOfCpuTimeAndOtherCores) {
  EXPECT_DOUBLE_EQ(on_two_cores(ten_cores(), 2, 2, 1).factor, 20);
  EXPECT_DOUBLE_EQ(on_two_cores(ten_cores(2), 2, 2).factor, 5) << "a core here does twice as much";
}

TEST(ScaleModel, IsNeverFasterThanFullScale) {
  spec::TrialSpec spec = ten_cores();
  spec.emulation.cores_per_accelerator = 1;
  try {
    on_two_cores(spec, 1, 1);
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("each of 1 ranks has 2 cores here"), HasSubstr("cores_per_rank to 1")));
  }
}

TEST(ScaleModel, ReportsRatesAndTimesOfTheFullScale) {
  results::RepeatResult repeat = results::make_trial({.engine = "emulated:v100"}, {100}).repeats.front();
  const results::RepeatResult measured = repeat;
  to_full_scale(repeat, {.factor = 80, .cores = 0.125}, {.cores_per_accelerator = 10, .core_speed = 2});
  EXPECT_DOUBLE_EQ(repeat.images_per_s, 8000);
  EXPECT_DOUBLE_EQ(repeat.wall_s, measured.wall_s / 80);
  EXPECT_DOUBLE_EQ(repeat.process_cpu_s, 2 * measured.process_cpu_s) << "the work costs more on slower cores";
  EXPECT_DOUBLE_EQ(repeat.waits.front().wait_s, measured.waits.front().wait_s / 80);
  const measure::StepTimings& step = repeat.steps.front().timings;
  EXPECT_DOUBLE_EQ(step.wall_s, measured.steps.front().timings.wall_s / 80);
  EXPECT_DOUBLE_EQ(step.wait_s, measured.steps.front().timings.wait_s / 80);
  EXPECT_EQ(step.images, measured.steps.front().timings.images);
}

TEST(ScaleModel, SaysWhatItAssumes) {
  EXPECT_THAT(scale_note({.factor = 80, .cores = 0.125}, {.cores_per_accelerator = 10}),
              AllOf(HasSubstr("scale model, 1 : 80: 10 cores"), HasSubstr("a rank had 0.125 here"),
                    HasSubstr("as fast as one here")));
  EXPECT_THAT(scale_note({.factor = 40, .cores = 0.125}, {.cores_per_accelerator = 10, .core_speed = 2}),
              HasSubstr("0.5 times as fast as one here"));
}

}  // namespace
}  // namespace chexbench::bench

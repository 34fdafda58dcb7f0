// Tests the figures, files and sentences about GPUs with artificial samples.
#include "results/gpu_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/findings.hpp"
#include "core/errors.hpp"
#include "report/csv.hpp"
#include "report/csv_reader.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "report/write.hpp"
#include "results/read.hpp"
#include "results/record_factory.hpp"

namespace chexbench::results {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;
using testing::SizeIs;
using Words = std::vector<std::string>;

measure::GpuSample at(double time_s) { return {.time_s = time_s}; }

// Returns a sample of a healthy GPU. It is busy for 0.43 of the time, like the steps of the factory.
measure::GpuSample healthy(double time_s) {
  return {.time_s = time_s,
          .utilization = 0.43,
          .memory_utilization = 0.2,
          .memory_used_bytes = 4'000'000'000,
          .sm_clock_hz = 1.98e9,
          .memory_clock_hz = 2.6e9,
          .power_w = 600,
          .temperature_c = 60,
          .throttle_reasons = Words{},
          .uncorrected_ecc_errors = 7,
          .sm_activity = 0.75};
}

// Returns a trial whose steps run from second 100 to 104 of the clock, with a sample every half second from 99 to 105.
TrialResult make_gpu_trial(int ranks = 1, std::vector<double> images_per_s = {7000}) {
  TrialResult trial = make_trial({.ranks = ranks, .engine = "onednn"}, images_per_s);
  for (RepeatResult& repeat : trial.repeats) {
    for (StepRecord& step : repeat.steps) {
      step.timings = {.wall_s = 2, .compute_s = 0.86, .end_s = 102.0 + 2 * step.step};
    }
    for (int rank = 0; rank < ranks; ++rank) {
      GpuSeries& gpu = repeat.gpus.emplace_back();
      gpu = {.rank = rank, .name = "Some GPU", .uuid = "GPU-" + std::to_string(rank)};
      for (double time_s = 99; time_s <= 105; time_s += 0.5) gpu.samples.push_back(healthy(time_s));
    }
  }
  return trial;
}

std::vector<std::string> texts_of_kind(const std::vector<TrialResult>& trials, const std::string& kind) {
  std::vector<std::string> texts;
  for (const Finding& finding : analysis::derive_findings(trials)) {
    if (finding.kind == kind) texts.push_back(finding.text);
  }
  return texts;
}

TEST(MeasuredWindow, ReachesFromTheBeginOfARanksFirstStepToTheEndOfItsLast) {
  RepeatResult repeat;
  repeat.steps = {{.rank = 0, .timings = {.wall_s = 2, .end_s = 12}},
                  {.rank = 1, .timings = {.wall_s = 5, .end_s = 99}},
                  {.rank = 0, .timings = {.wall_s = 3, .end_s = 15}}};
  const auto window = measured_window(repeat, 0);
  ASSERT_TRUE(window);
  EXPECT_DOUBLE_EQ(window->begin_s, 10);
  EXPECT_DOUBLE_EQ(window->end_s, 15);
  EXPECT_FALSE(measured_window(repeat, 2));
}

TEST(SamplesAround, AreThoseOfTheWindowAndOneOnEitherSide) {
  const std::vector samples{at(1), at(2), at(3), at(4), at(5), at(6)};
  EXPECT_THAT(samples_around(samples, {.begin_s = 3, .end_s = 4}), ElementsAre(at(2), at(3), at(4), at(5)));
  EXPECT_THAT(samples_around(samples, {.begin_s = 3.2, .end_s = 3.8}), ElementsAre(at(3), at(4)));
  EXPECT_THAT(samples_around(samples, {.begin_s = 0, .end_s = 9}), SizeIs(6));
  EXPECT_THAT(samples_around({}, {.begin_s = 0, .end_s = 9}), IsEmpty());
}

TEST(GpuFigures, LeaveOutTheFirstSecondOfUtilizationWhichTellsOfTheTimeBefore) {
  TrialResult trial = make_gpu_trial();
  for (measure::GpuSample& sample : trial.repeats[0].gpus[0].samples) {
    if (sample.time_s >= 101) continue;
    sample.utilization = sample.memory_utilization = 0;
    sample.power_w = 250;
  }
  const measure::GpuWindow gpu = figures_of(trial).gpu;
  EXPECT_NEAR(gpu.mean_utilization.value_or(-1), 0.43, 1e-12);
  EXPECT_NEAR(gpu.mean_memory_utilization.value_or(-1), 0.2, 1e-12);
  EXPECT_NEAR(gpu.mean_power_w.value_or(-1), (2 * 250 + 7 * 600) / 9.0, 1e-9);  // the power of that second counts
}

TEST(GpuFigures, AreMeansExtremesAndSumsOverRanksAndRepeats) {
  TrialResult trial = make_gpu_trial(2, {7000, 7000});
  auto& odd = trial.repeats[1].gpus[1].samples;  // one of four windows
  for (measure::GpuSample& sample : odd) {
    sample.utilization = 0.83;
    sample.power_w = 200;
    sample.throttle_reasons = Words{"sw_power_cap"};
  }
  odd[4].memory_used_bytes = 9'000'000'000;
  odd[5].sm_clock_hz = 1e9;
  odd[6].temperature_c = 88;
  odd.back().uncorrected_ecc_errors = 10;
  const measure::GpuWindow gpu = figures_of(trial).gpu;
  EXPECT_NEAR(gpu.mean_utilization.value_or(-1), (3 * 0.43 + 0.83) / 4, 1e-12);
  EXPECT_NEAR(gpu.mean_power_w.value_or(-1), (3 * 600 + 200) / 4.0, 1e-9);
  EXPECT_THAT(gpu.peak_memory_used_bytes, Optional(9'000'000'000u));
  EXPECT_THAT(gpu.lowest_sm_clock_hz, Optional(1e9));
  EXPECT_THAT(gpu.highest_temperature_c, Optional(88.0));
  EXPECT_THAT(gpu.throttled_share, Optional(0.25));
  EXPECT_THAT(gpu.new_uncorrected_ecc_errors, Optional(0u));  // 105 s is two samples after the window
  odd[11].uncorrected_ecc_errors = 9;                         // 104.5 s is the first one after it
  EXPECT_THAT(figures_of(trial).gpu.new_uncorrected_ecc_errors, Optional(2u));
}

TEST(GpuFigures, AreEmptyWithoutAGpu) {
  const measure::GpuWindow gpu = figures_of(make_trial({}, {100})).gpu;
  EXPECT_EQ(gpu.samples, 0u);
  EXPECT_FALSE(gpu.mean_utilization || gpu.mean_power_w || gpu.throttled_share || gpu.new_uncorrected_ecc_errors);
}

TEST(ReasonsText, RoundTripsNoneOneAndMany) {
  for (const Words& reasons : {Words{}, Words{"sw_power_cap"}, Words{"sw_power_cap", "hw_slowdown"}}) {
    EXPECT_EQ(reasons_from_text(reasons_text(reasons)), reasons);
  }
  EXPECT_EQ(reasons_text({}), "none");
}

class GpuRoundTrip : public testing::Test {
 protected:
  GpuRoundTrip() {
    auto& gpu = trial_.repeats[0].gpus[1];
    gpu.problem = "GPU 1 is \"lost\"";
    gpu.samples[0] = at(99);  // without any value
    gpu.samples[1].throttle_reasons = Words{"sw_power_cap", "hw_slowdown"};
    gpu.samples[2].power_w = 1.0 / 3.0;
  }
  static void expect_same(const RepeatResult& a, const RepeatResult& b) {
    ASSERT_EQ(a.gpus.size(), b.gpus.size());
    for (std::size_t i = 0; i < a.gpus.size(); ++i) {
      EXPECT_EQ(a.gpus[i].rank, b.gpus[i].rank);
      EXPECT_EQ(a.gpus[i].name, b.gpus[i].name);
      EXPECT_EQ(a.gpus[i].uuid, b.gpus[i].uuid);
      EXPECT_EQ(a.gpus[i].problem, b.gpus[i].problem);
      EXPECT_EQ(a.gpus[i].samples, b.gpus[i].samples);
    }
  }

  TrialResult trial_ = make_gpu_trial(2);
};

TEST_F(GpuRoundTrip, OfTheJournalLosesNothing) {
  const std::string line = to_journal_line({.key = "a", .repeat = trial_.repeats[0]}) + "\n";
  expect_same(journal_from_text(line, "journal.jsonl").entries.at(0).repeat, trial_.repeats[0]);
}

TEST_F(GpuRoundTrip, OfTheReportLosesNothing) {
  Report report = make_report({trial_});
  report.environment.gpu_driver = "580.65.06";
  report.environment.gpus = {"Some GPU", "Some GPU"};
  const std::string text = report::to_json(report);
  const Report read = report_from_json(text, "report.json");
  expect_same(read.trials[0].repeats[0], trial_.repeats[0]);
  EXPECT_EQ(read.environment.gpu_driver, "580.65.06");
  EXPECT_THAT(read.environment.gpus, SizeIs(2));
  EXPECT_EQ(report::to_json(read), text);
}

TEST_F(GpuRoundTrip, HoldsFiguresOfTheTrialAndOfEachGpu) {
  const json trial = json::parse(report::to_json(make_report({trial_})))["trials"][0];
  EXPECT_DOUBLE_EQ(trial["figures"]["gpu_utilization"].get<double>(), 0.43);
  EXPECT_EQ(trial["figures"]["gpu_peak_memory_bytes"], 4'000'000'000);
  EXPECT_EQ(trial["repeats"][0]["gpus"][0]["figures"]["gpu_highest_temperature_c"], 60);
  const json healthy = json::parse(report::to_json(make_report({make_trial({}, {1})})))["trials"][0];
  EXPECT_TRUE(healthy["figures"]["gpu_utilization"].is_null());
  EXPECT_EQ(healthy["repeats"][0]["gpus"], json::array());
}

TEST_F(GpuRoundTrip, ReadsAJournalFromBeforeThereWereGpus) {
  json line = json::parse(to_journal_line({.key = "a", .repeat = trial_.repeats[0]}));
  line["repeat"].erase("gpus");
  EXPECT_THAT(journal_from_text(line.dump() + "\n", "j").entries.at(0).repeat.gpus, IsEmpty());
}

TEST_F(GpuRoundTrip, RefusesASampleThatNoGpuCanHaveGiven) {
  json line = json::parse(to_journal_line({.key = "a", .repeat = trial_.repeats[0]}));
  line["repeat"]["gpus"][0]["samples"]["rows"][0][3] = -1;  // memory_used_bytes
  EXPECT_THROW(journal_from_text(line.dump() + "\n", "j"), DataError);
}

TEST(TrialsCsv, HasTheFiguresOfGpus) {
  TrialResult trial = make_gpu_trial();
  auto& samples = trial.repeats[0].gpus[0].samples;
  samples[4].throttle_reasons = Words{"sw_power_cap", "hw_slowdown"};
  samples[5].throttle_reasons = Words{"sw_power_cap"};
  samples[6].throttle_reasons = Words{"gpu_idle"};
  samples.resize(10);  // to 103.5 s: eight samples in the window
  const auto lines = report::read_csv(report::csv_text("trials.csv", make_report({trial, make_trial({}, {100})})));
  const auto begin = std::ranges::find(lines.at(0), "gpu_utilization") - lines.at(0).begin();
  const auto of_gpus = [&](std::size_t row) {
    return Words(lines.at(row).begin() + begin, lines.at(row).begin() + begin + 12);
  };
  EXPECT_THAT(of_gpus(0),
              ElementsAre("gpu_utilization", "gpu_memory_utilization", "gpu_peak_memory_bytes", "gpu_power_w",
                          "gpu_sm_activity", "gpu_tensor_activity", "gpu_dram_activity", "gpu_lowest_sm_clock_hz",
                          "gpu_lowest_memory_clock_hz", "gpu_highest_temperature_c", "gpu_throttled_share",
                          "gpu_new_uncorrected_ecc_errors"));
  const Words figures = of_gpus(1);
  EXPECT_NEAR(std::stod(figures.at(0)), 0.43, 1e-12);
  EXPECT_NEAR(std::stod(figures.at(1)), 0.2, 1e-12);
  EXPECT_THAT(Words(figures.begin() + 2, figures.end()),
              ElementsAre("4000000000", "600", "0.75", "", "", "1980000000", "2600000000", "60", "0.25", "0"));
  EXPECT_THAT(of_gpus(2), testing::Each(""));
  const auto reasons = report::read_csv(report::csv_text("throttle.csv", make_report({trial, make_trial({}, {100})})));
  EXPECT_THAT(reasons, ElementsAre(ElementsAre("experiment", "trial", "reason", "share"),
                                   ElementsAre("naive-vs-optimized", trial.name, "sw_power_cap", "0.25"),
                                   ElementsAre("naive-vs-optimized", trial.name, "hw_slowdown", "0.125"),
                                   ElementsAre("naive-vs-optimized", trial.name, "gpu_idle", "0.125")));
}

TEST(GpuCsv, HasARowForEverySampleOnTheClockOfTheSteps) {
  TrialResult trial = make_gpu_trial(2);
  trial.repeats[0].gpus[1].samples = {at(99.5), healthy(100.5)};
  trial.repeats[0].gpus[1].samples[1].throttle_reasons = Words{"sw_power_cap", "hw_slowdown"};
  const auto lines = report::read_csv(report::csv_text("gpu.csv", make_report({trial})));
  ASSERT_THAT(lines, SizeIs(1 + 13 + 2));
  EXPECT_THAT(lines[0], ElementsAre("experiment", "trial", "repeat", "rank", "time_s", "utilization",
                                    "memory_utilization", "memory_used_bytes", "sm_clock_hz", "memory_clock_hz",
                                    "power_w", "temperature_c", "uncorrected_ecc_errors", "energy_j", "sm_activity",
                                    "tensor_activity", "dram_activity", "throttled"));
  EXPECT_THAT(lines[1],
              ElementsAre("naive-vs-optimized", "optimized images ranks=2", "0", "0", "99", "0.43", "0.2", "4000000000",
                          "1980000000", "2600000000", "600", "60", "7", "", "0.75", "", "", "false"));
  EXPECT_THAT(lines[14], ElementsAre("naive-vs-optimized", "optimized images ranks=2", "0", "1", "99.5", "", "", "", "",
                                     "", "", "", "", "", "", "", "", ""));
  EXPECT_EQ(lines[15].at(17), "true");
  const auto reasons = report::read_csv(report::csv_text("gpu_throttle.csv", make_report({trial})));
  EXPECT_THAT(reasons, ElementsAre(ElementsAre("experiment", "trial", "repeat", "rank", "time_s", "reason"),
                                   ElementsAre("naive-vs-optimized", trial.name, "0", "1", "100.5", "sw_power_cap"),
                                   ElementsAre("naive-vs-optimized", trial.name, "0", "1", "100.5", "hw_slowdown")));
}

TEST(GpuCsv, IsWrittenOnlyWhereAGpuWasSampled) {
  EXPECT_EQ(report::csv_text("gpu.csv", make_report({make_trial({}, {100})})), "");
  const std::string folder = testing::TempDir() + "gpu_csv_" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  EXPECT_THAT(report::write_report(make_report({make_gpu_trial()}), folder),
              ElementsAre(EndsWith("trials.csv"), EndsWith("repeats.csv"), EndsWith("steps.csv"), EndsWith("ops.csv"),
                          EndsWith("gpu.csv"), EndsWith("csv-metadata.json"), EndsWith("report.json"),
                          EndsWith("report.html")));
  std::filesystem::remove_all(folder);
}

TEST(ResultTable, ShowsNvmlsUtilizationOnlyWhereATrialHasIt) {
  const std::string without = report::result_table(make_report({make_trial({}, {100})}));
  const std::string with = report::result_table(make_report({make_gpu_trial()}));
  EXPECT_THAT(without, AllOf(Not(HasSubstr("NVML")), Not(HasSubstr("GPUs:"))));
  EXPECT_THAT(with, HasSubstr("NVML"));
  EXPECT_THAT(with, HasSubstr("43.0 %  43.0 %"));  // busy, NVML
}

TEST(ResultTable, NamesTheGpusOfTheHostAndTheirDriver) {
  Report report = make_report({make_gpu_trial()});
  report.environment.gpus = {"Some GPU", "Other GPU", "Some GPU"};
  report.environment.gpu_driver = "580.65.06";
  EXPECT_THAT(report::result_table(report), HasSubstr("\nGPUs: 1 x Other GPU, 2 x Some GPU; driver 580.65.06\n"));
}

TEST(GpuFindings, AreNoneOfAHealthyGpuThatIsAsBusyAsNvmlSays) {
  for (const Finding& finding : analysis::derive_findings({make_gpu_trial()})) {
    EXPECT_THAT(finding.kind, testing::AnyOf("fed", "starved")) << finding.text;
  }
}

TEST(GpuFindings, TellOfClocksHeldDownByPowerOrHeatFromFivePercentOfTheSamples) {
  TrialResult trial = make_gpu_trial();
  auto& samples = trial.repeats[0].gpus[0].samples;
  samples.clear();
  for (int i = 0; i < 20; ++i) samples.push_back(healthy(100 + 0.2 * i));
  samples[3].throttle_reasons = Words{"hw_thermal_slowdown"};
  samples[3].sm_clock_hz = 1.2e9;
  samples[3].temperature_c = 87;
  EXPECT_THAT(texts_of_kind({trial}, "throttled"), IsEmpty());  // exactly 5 %
  samples[4].throttle_reasons = Words{"sw_power_cap"};
  samples[5].throttle_reasons = Words{"sw_power_cap"};
  EXPECT_THAT(texts_of_kind({trial}, "throttled"),
              ElementsAre("optimized images ranks=1: power or heat throttled the GPU's clocks in 15 % of the samples "
                          "(sw_power_cap 10 %, hw_thermal_slowdown 5 %; the SM clock fell to 1200 MHz, 600 W a GPU, "
                          "up to 87 C)."));
}

TEST(GpuFindings, TellOfUncorrectedEccErrorsInAnyTrial) {
  TrialResult one = make_gpu_trial(1);
  one.repeats[0].gpus[0].samples[6].uncorrected_ecc_errors = 8;
  for (std::size_t i = 6; i < 13; ++i) one.repeats[0].gpus[0].samples[i].uncorrected_ecc_errors = 8;
  const auto texts = texts_of_kind({one, make_gpu_trial(4)}, "ecc_errors");
  ASSERT_THAT(texts, SizeIs(1));
  EXPECT_THAT(texts[0], HasSubstr("ranks=1: 1 uncorrected ECC error occurred"));
}

TEST(GpuFindings, TellWhereNvmlAndTheBusyShareAreFarApart) {
  const auto with_utilization = [](double utilization) {
    TrialResult trial = make_gpu_trial();
    for (measure::GpuSample& sample : trial.repeats[0].gpus[0].samples) sample.utilization = utilization;
    return texts_of_kind({trial}, "nvml_differs");
  };
  EXPECT_THAT(with_utilization(0.62), IsEmpty());
  EXPECT_THAT(with_utilization(0.24), IsEmpty());
  EXPECT_THAT(with_utilization(0.22), SizeIs(1));
  EXPECT_THAT(with_utilization(0.97), ElementsAre(AllOf(HasSubstr("NVML's utilization is 97 %, the busy share 43 %"),
                                                        HasSubstr("the time in which any kernel runs"))));
}

TEST(GpuFindings, TellWhereAGpuIsBusyOnFewMultiprocessors) {
  const auto with_activity = [](double utilization, double sm_activity) {
    TrialResult trial = make_gpu_trial();
    for (measure::GpuSample& sample : trial.repeats[0].gpus[0].samples) {
      sample.utilization = utilization;
      sample.sm_activity = sm_activity;
    }
    return texts_of_kind({trial}, "partly_busy");
  };
  EXPECT_THAT(with_activity(0.98, 0.4), ElementsAre(AllOf(HasSubstr("NVML's utilization is 98 %, but 40 % of the"),
                                                          HasSubstr("training.batch_size"))));
  EXPECT_THAT(with_activity(0.98, 0.6), IsEmpty());
  EXPECT_THAT(with_activity(0.8, 0.4), IsEmpty());
}

TEST(GpuFindings, TellHowManyStepsMakeAWindowLongEnoughForNvml) {
  TrialResult trial = make_gpu_trial();
  trial.spec.measure.steps = 12;
  for (StepRecord& step : trial.repeats[0].steps) {
    step.timings.wall_s = 0.25;
    step.timings.end_s = 100.25 + 0.25 * step.step;
  }
  EXPECT_THAT(texts_of_kind({trial}, "nvml_window"),
              ElementsAre(AllOf(HasSubstr("windows take 0.5 s"), HasSubstr("measure.steps to 72."))));
  trial.spec.training.epochs = 2;  // then a spec may not state measure.steps
  EXPECT_THAT(texts_of_kind({trial}, "nvml_window"), ElementsAre(HasSubstr("raise training.epochs to 12.")));
  for (measure::GpuSample& sample : trial.repeats[0].gpus[0].samples) sample.utilization.reset();
  EXPECT_THAT(texts_of_kind({trial}, "nvml_window"), IsEmpty());  // a GPU that never reports its utilization
}

}  // namespace
}  // namespace chexbench::results

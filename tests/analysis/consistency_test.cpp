// Figures in the same sentence or row must agree for any measurement: a property of random reports.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "analysis/answer.hpp"
#include "analysis/derive.hpp"
#include "analysis/findings.hpp"
#include "core/random.hpp"
#include "results/rates.hpp"
#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

constexpr double kComputeS = 0.02;  // of every step: the engine's ceiling is one batch in this time
constexpr int kSteps = 8;

// Returns a repeat whose steps wait for a random time, occasionally for a very long one, as on a shared machine.
results::RepeatResult random_repeat(int repeat, const spec::TrialSpec& spec, int ranks, RandomStream& random) {
  results::RepeatResult result = results::make_repeat(repeat, ranks, 0);
  const double disturbance = random.uniform() < 0.3 ? 5 : 1;
  const double longest_wait_s = 0.04 * random.uniform() * disturbance;
  result.steps.clear();
  result.wall_s = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double wait_s = longest_wait_s * random.uniform();
    for (int rank = 0; rank < ranks; ++rank) {
      result.steps.push_back({.rank = rank,
                              .step = step,
                              .timings = {.wall_s = wait_s + kComputeS, .wait_s = wait_s, .compute_s = kComputeS}});
    }
    result.wall_s += wait_s + kComputeS;
  }
  result.images_trained = static_cast<std::uint64_t>(spec.training.batch_size * ranks * kSteps);
  result.images_per_s = static_cast<double>(result.images_trained) / result.wall_s;
  return result;
}

results::TrialResult random_trial(const std::string& pipeline, int repeats, RandomStream& random) {
  const int ranks = 1 + static_cast<int>(random.below(3));
  results::TrialResult trial =
      results::make_trial({.pipeline = pipeline, .ranks = ranks, .engine = "emulated:v100"}, {});
  for (int repeat = 0; repeat < repeats; ++repeat) {
    if (repeat > 0 && random.uniform() < 0.1) continue;  // lost, as after --resume
    trial.repeats.push_back(random_repeat(repeat, trial.spec, ranks, random));
  }
  return trial;
}

class RandomReports : public testing::TestWithParam<int> {
 protected:
  RandomStream random_{static_cast<std::uint64_t>(GetParam())};
  int repeats_ = 1 + static_cast<int>(random_.below(9));
};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomReports, testing::Range(0, 60));

// Returns the number that a sentence prints with commas between thousands.
double value_of(std::string text) {
  std::erase(text, ',');
  return std::stod(text);
}

TEST_P(RandomReports, ImagesPerSecondFitTheMeanStepAndTheShares) {
  const results::TrialResult trial = random_trial("naive", repeats_, random_);
  const results::Figures figures = results::figures_of(trial);
  double wall_s = 0, slowest = 1e9, fastest = 0;
  std::size_t steps = 0;
  for (const results::RepeatResult* repeat : results::typical_repeats(trial)) {
    for (const results::StepRecord& step : repeat->steps) wall_s += step.timings.wall_s;
    steps += repeat->steps.size();
    slowest = std::min(slowest, repeat->images_per_s);
    fastest = std::max(fastest, repeat->images_per_s);
  }
  const double by_mean_step = trial.spec.training.batch_size * trial.ranks * static_cast<double>(steps) / wall_s;
  EXPECT_GE(by_mean_step, slowest * (1 - 1e-9));
  EXPECT_LE(by_mean_step, fastest * (1 + 1e-9));
  EXPECT_NEAR(*figures.wait_share + *figures.compute_share, 1, 1e-9);
  const double ceiling = trial.spec.training.batch_size * trial.ranks / kComputeS;
  EXPECT_LE(by_mean_step / (1 - *figures.wait_share), ceiling * (1 + 1e-9));
}

TEST_P(RandomReports, NoSentenceExceedsTheCeilingOfTheEngine) {
  const results::TrialResult trial = random_trial("naive", repeats_, random_);
  const double ceiling = trial.spec.training.batch_size * trial.ranks / kComputeS;
  std::smatch match;
  for (const results::Finding& finding : derive_findings({trial})) {
    if (!std::regex_search(finding.text, match, std::regex("at most ([0-9.,]+) without"))) continue;
    EXPECT_LE(value_of(match[1]), ceiling + 0.5) << finding.text;
  }
}

TEST_P(RandomReports, RatiosInSentencesDivide) {
  std::vector<results::TrialResult> trials;
  for (const char* pipeline : {"naive", "optimized"}) {
    trials.push_back(random_trial(pipeline, repeats_, random_));
    trials.back().spec.ranks = trials.back().ranks = 1;  // so that they are arms of one comparison
    for (results::RepeatResult& repeat : trials.back().repeats)
      std::erase_if(repeat.steps, [](const auto& step) { return step.rank > 0; });
  }
  trials[1].spec.pipeline.ops.clear();
  bool compared = false;
  std::smatch match;
  for (const results::Finding& finding : derive_findings(trials)) {
    if (finding.kind != "pipeline_ratio") continue;
    compared = true;
    ASSERT_TRUE(std::regex_search(finding.text, match, std::regex("ratio ([0-9.]+)|trains ([0-9.]+) x")))
        << finding.text;
    const double ratio = std::stod(match[1].matched ? match[1] : match[2]);
    ASSERT_TRUE(std::regex_search(finding.text, match, std::regex("([0-9.,]+) against ([0-9.,]+)"))) << finding.text;
    EXPECT_NEAR(ratio, value_of(match[1]) / value_of(match[2]), 0.006 + 0.006 * ratio) << finding.text;
  }
  EXPECT_TRUE(compared);
}

TEST_P(RandomReports, ScalingIsTheRatioOfTheRatesInTheTable) {
  std::vector<results::TrialResult> trials{random_trial("naive", repeats_, random_), {}};
  trials[0].spec.ranks = trials[0].ranks = 1;
  for (results::RepeatResult& repeat : trials[0].repeats)
    std::erase_if(repeat.steps, [](const auto& step) { return step.rank > 0; });
  trials[1] = trials[0];
  trials[1].spec.ranks = trials[1].ranks = 2;
  for (results::RepeatResult& repeat : trials[1].repeats) repeat.images_per_s *= 1 + random_.uniform();
  const double alone = *derive_figures(trials[0], trials).images_per_s;
  const double both = *derive_figures(trials[1], trials).images_per_s;
  std::smatch match;
  for (const results::Finding& finding : derive_findings(trials)) {
    if (!std::regex_search(finding.text, match, std::regex("reaches ([0-9]+) % of 2 times"))) continue;
    EXPECT_NEAR(std::stod(match[1]), 100 * both / (2 * alone), 0.51) << finding.text;
    return;
  }
  ADD_FAILURE() << "no finding about scaling";
}

TEST_P(RandomReports, ACeilingIsTheRatioOfItsRates) {
  std::vector<results::TrialResult> trials{random_trial("naive", repeats_, random_), {}};
  trials[0].emulated = false;
  trials[0].spec.engine = "onednn";
  trials[1] = trials[0];
  trials[1].spec.engine = "none";
  for (results::RepeatResult& repeat : trials[1].repeats) repeat.images_per_s *= 0.5 + 3 * random_.uniform();
  std::smatch match;
  const std::regex rates("trains ([0-9.,]+) images/s, the pipeline alone delivers ([0-9.,]+) \\(([0-9.]+) x\\)");
  for (const results::Finding& finding : derive_findings(trials)) {
    if (!std::regex_search(finding.text, match, rates)) continue;
    EXPECT_NEAR(value_of(match[3]), value_of(match[2]) / value_of(match[1]), 0.06) << finding.text;
    return;
  }
  ADD_FAILURE() << "no finding about the ceiling";
}

// Returns a second's use of two cores on a busy machine with a CPU limit and differing clocks.
results::Disturbance random_disturbance(RandomStream& random) {
  const auto up_to = [&random](double most) { return random.uniform() < 0.3 ? 0 : most * random.uniform(); };
  return {.core_s = 2,
          .others_s = up_to(2),
          .steal_s = up_to(1),
          .own_cpu_s = up_to(2.2),
          .own_wait_s = up_to(8),
          .span_s = 1,
          .throttled_s = up_to(4),
          .memory_stall_s = up_to(1)};
}

TEST_P(RandomReports, SharesLieBetweenNothingAndAllUnderALimitAndOnABusyMachine) {
  results::Report report;
  for (const char* engine : {"emulated:v100", "none"}) {
    for (const char* pipeline : {"naive", "optimized"}) {
      results::TrialResult trial = random_trial(pipeline, repeats_, random_);
      trial.spec.engine = engine;
      trial.spec.ranks = trial.ranks = 1;
      if (pipeline == std::string("optimized")) trial.spec.pipeline.ops.clear();
      for (results::RepeatResult& repeat : trial.repeats) {
        std::erase_if(repeat.steps, [](const auto& step) { return step.rank > 0; });
        repeat.disturbance = random_disturbance(random_);
        repeat.process_cpu_s = 1.2 * repeat.wall_s * trial.cores_per_rank * random_.uniform();
        repeat.cpu_wait_s = 4 * repeat.wall_s * trial.cores_per_rank * random_.uniform();
      }
      report.trials.push_back(std::move(trial));
    }
  }
  std::vector<std::string> texts = derive_answer(report).lines;
  for (const results::Finding& finding : derive_findings(report.trials)) {
    texts.insert(texts.end(), {finding.text, finding.headline, finding.reason});
    EXPECT_GE(finding.worth_share, 0) << finding.text;
    EXPECT_LE(finding.worth_share, 1) << finding.text;
  }
  const std::regex percent("(-?[0-9.]+) %");
  for (const std::string& text : texts) {
    for (auto match = std::sregex_iterator(text.begin(), text.end(), percent); match != std::sregex_iterator();
         ++match) {
      EXPECT_GE(std::stod((*match)[1]), 0) << text;
      EXPECT_LE(std::stod((*match)[1]), 100) << text;
    }
  }
  for (const results::TrialResult& trial : report.trials) {
    const results::Figures figures = derive_figures(trial, report.trials);
    for (const auto& share : {figures.cores_busy_share, figures.cpu_wait_share, figures.wait_share, figures.busy_share,
                              figures.other_share}) {
      EXPECT_GE(share.value_or(0), 0);
      EXPECT_LE(share.value_or(0), 1);
    }
  }
}

TEST(Sentences, CountTheTrialsThatTheTableShows) {
  std::vector<results::TrialResult> trials;
  for (const int ranks : {1, 2}) {
    for (const char* pipeline : {"naive", "optimized"}) {
      trials.push_back(results::make_trial({.pipeline = pipeline, .ranks = ranks}, {100, 100}));
      for (results::RepeatResult& repeat : trials.back().repeats) repeat.storage_read_bytes = 0;
    }
  }
  const std::vector<results::Finding> findings = derive_findings(trials);
  const auto cached = std::ranges::find(findings, "page_cache", &results::Finding::kind);
  ASSERT_NE(cached, findings.end());
  EXPECT_THAT(cached->text, testing::StartsWith("4 of 4 trials"));
}

}  // namespace
}  // namespace chexbench::analysis

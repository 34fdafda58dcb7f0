#include "measure/gpu_sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "measure/process_sampler.hpp"

namespace chexbench::measure {
namespace {

using testing::HasSubstr;

// A FakeGpu's behaviour, and the number of queries. Must outlive it.
struct Fake {
  double cost_s = 0;           // CPU time of a sample
  int lost_after = 1'000'000;  // samples
  std::atomic<int> asked = 0;
};

class FakeGpu final : public Gpu {
 public:
  explicit FakeGpu(Fake& fake) : fake_(fake) {}
  const GpuInfo& info() const override { return info_; }
  GpuSample sample() const override {
    if (fake_.asked >= fake_.lost_after) throw DeviceError("GPU 0 is lost");
    const Stopwatch spent;
    while (spent.cpu_s() < fake_.cost_s) {
    }
    GpuSample sample{.time_s = now_s()};
    sample.utilization = fake_.asked++;
    return sample;
  }

 private:
  Fake& fake_;
  GpuInfo info_{.index = 5};
};

std::unique_ptr<Gpu> gpu_of(Fake& fake) { return std::make_unique<FakeGpu>(fake); }

void wait_for(const std::function<bool()>& condition) {
  const double deadline_s = now_s() + 30;
  while (!condition() && now_s() < deadline_s) sleep_until_s(now_s() + 0.001);
}

TEST(GpuSampler, SamplesFromStartToStop) {
  Fake fake;
  GpuSampler sampler(gpu_of(fake), {.interval_s = 0.01});
  EXPECT_EQ(sampler.gpu().index, 5u);
  EXPECT_TRUE(sampler.samples().empty());
  const double begin_s = now_s();
  sampler.start();
  EXPECT_EQ(sampler.samples().size(), 1u);
  wait_for([&] { return fake.asked >= 5; });
  sampler.stop();
  const double end_s = now_s();
  const auto samples = sampler.samples();
  ASSERT_GE(samples.size(), 5u);
  EXPECT_EQ(static_cast<int>(samples.size()), fake.asked);
  EXPECT_GE(samples.front().time_s, begin_s);
  EXPECT_LE(samples.back().time_s, end_s);
  EXPECT_LE(static_cast<double>(samples.size()), (end_s - begin_s) / 0.01 + 2);
  EXPECT_EQ(sampler.problem(), "");
}

TEST(GpuSampler, StopsAtOnceHoweverLongTheInterval) {
  Fake fake;
  GpuSampler sampler(gpu_of(fake), {.interval_s = 3600});
  sampler.start();
  const double asked_s = now_s();
  sampler.stop();
  sampler.stop();
  EXPECT_LT(now_s() - asked_s, 10);
  EXPECT_EQ(sampler.samples().size(), 2u);  // of start() and of stop()
}

TEST(GpuSampler, MayBeDestroyedWhileItRunsOrUnused) {
  Fake fake;
  { GpuSampler sampler(gpu_of(fake)); }
  GpuSampler sampler(gpu_of(fake), {.interval_s = 0.001});
  sampler.start();
}

TEST(GpuSampler, BeginsAnewAtTheNextStart) {
  Fake fake{.lost_after = 2};
  GpuSampler sampler(gpu_of(fake), {.interval_s = 0.001});
  sampler.start();
  wait_for([&] { return !sampler.problem().empty(); });
  fake.lost_after = 1'000'000;
  sampler.start();
  sampler.stop();
  EXPECT_EQ(sampler.problem(), "");
  EXPECT_GE(sampler.samples().front().utilization, 2);
}

TEST(GpuSampler, KeepsTheNewestSamples) {
  Fake fake;
  GpuSampler sampler(gpu_of(fake), {.interval_s = 0.0001, .most_samples = 4});
  sampler.start();
  wait_for([&] { return fake.asked >= 10; });
  sampler.stop();
  const auto samples = sampler.samples();
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples.back().utilization, fake.asked - 1);
  EXPECT_EQ(samples.front().utilization, fake.asked - 4);
}

TEST(GpuSampler, KeepsItsSamplesAndSaysWhyWhereTheGpuIsLost) {
  Fake fake{.lost_after = 3};
  GpuSampler sampler(gpu_of(fake), {.interval_s = 0.001});
  sampler.start();
  wait_for([&] { return !sampler.problem().empty(); });
  EXPECT_THAT(sampler.problem(), HasSubstr("lost"));
  sampler.stop();
  EXPECT_EQ(sampler.samples().size(), 3u);
}

TEST(GpuSampler, SaysWhyWhereTheGpuIsLostFromTheBeginning) {
  Fake fake{.lost_after = 0};
  GpuSampler sampler(gpu_of(fake));
  sampler.start();
  EXPECT_THAT(sampler.problem(), HasSubstr("lost"));
  sampler.stop();
  EXPECT_TRUE(sampler.samples().empty());
}

// A sample costs 20 ms of CPU time, so the next one comes 2 s later, although the interval is 10 ms.
TEST(GpuSampler, AnExpensiveGpuIsAskedLessOften) {
  Fake fake{.cost_s = 0.02};
  GpuSampler sampler(gpu_of(fake), {.interval_s = 0.01});
  sampler.start();  // this sample costs the caller's time, not the thread's
  sleep_until_s(now_s() + 0.5);
  const int asked = fake.asked;
  sampler.stop();
  EXPECT_LE(asked, 2);
}

TEST(GpuSampler, CostsUnderOnePercentOfACore) {
  Fake fake;
  GpuSampler sampler(gpu_of(fake));
  sampler.start();
  const double before_s = process_cpu_s();
  sleep_until_s(now_s() + 1);
  EXPECT_LT(process_cpu_s() - before_s, 0.01);
  sampler.stop();
}

// Tests the summary of a window on artificial samples.

using testing::Optional;

// Returns one sample per second, starting at second 0.
std::vector<GpuSample> with_utilization(const std::vector<double>& values) {
  std::vector<GpuSample> samples;
  for (const double value : values) {
    GpuSample sample{.time_s = static_cast<double>(samples.size())};
    sample.utilization = value;
    samples.push_back(sample);
  }
  return samples;
}

TEST(GpuWindow, IsEmptyWithoutSamples) {
  const GpuWindow window = summarize({}, 0, 1);
  EXPECT_EQ(window.samples, 0u);
  EXPECT_FALSE(window.mean_utilization || window.mean_memory_utilization || window.peak_memory_used_bytes ||
               window.mean_power_w || window.lowest_sm_clock_hz || window.lowest_memory_clock_hz ||
               window.highest_temperature_c || window.throttled_share || window.new_uncorrected_ecc_errors);
  EXPECT_TRUE(window.throttle.empty());
}

TEST(GpuWindow, CountsItsEndsInAndAllElseOut) {
  const auto samples = with_utilization({0, 0.2, 0.4, 0.9, 1});
  const GpuWindow window = summarize(samples, 1, 3);
  EXPECT_EQ(window.samples, 3u);
  EXPECT_DOUBLE_EQ(window.mean_utilization.value_or(-1), 0.5);
  EXPECT_EQ(summarize(samples, 1.5, 1.9).samples, 0u);
  EXPECT_EQ(summarize(samples, 5, 9).samples, 0u);
  EXPECT_EQ(summarize(samples, 3, 1).samples, 0u);
}

TEST(GpuWindow, TakesPowerFromTheEnergyCounterIfItMoves) {
  std::vector<GpuSample> samples(3);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].time_s = static_cast<double>(i);
    samples[i].power_w = 300;
    samples[i].energy_j = 1000 + 450.0 * static_cast<double>(i);
  }
  EXPECT_THAT(summarize(samples, 0, 2).mean_power_w, Optional(450.0));
  for (GpuSample& sample : samples) sample.energy_j = 1000;
  EXPECT_THAT(summarize(samples, 0, 2).mean_power_w, Optional(300.0));
}

TEST(GpuWindow, TakesMeansOfTheActivities) {
  std::vector<GpuSample> samples(3);
  samples[1].sm_activity = 0.2;
  samples[2].sm_activity = 0.6;
  samples[2].tensor_activity = 0.3;
  const GpuWindow window = summarize(samples, 0, 0);
  EXPECT_THAT(window.mean_sm_activity, Optional(0.4));
  EXPECT_THAT(window.mean_tensor_activity, Optional(0.3));
  EXPECT_EQ(window.mean_dram_activity, std::nullopt);
  EXPECT_THAT(combine(std::vector{window, GpuWindow{}}).mean_sm_activity, Optional(0.4));
}

TEST(GpuWindow, TakesMeansPeaksAndLows) {
  std::vector<GpuSample> samples(2);
  samples[0].memory_utilization = 0.1;
  samples[1].memory_utilization = 0.3;
  samples[0].memory_used_bytes = 7;
  samples[1].memory_used_bytes = 5;
  samples[0].power_w = 300;
  samples[1].power_w = 500;
  samples[0].sm_clock_hz = 2e9;
  samples[1].sm_clock_hz = 1e9;
  samples[0].memory_clock_hz = 3e9;
  samples[1].memory_clock_hz = 4e9;
  samples[0].temperature_c = 60;
  samples[1].temperature_c = 70;
  const GpuWindow window = summarize(samples, 0, 0);
  EXPECT_DOUBLE_EQ(window.mean_memory_utilization.value_or(-1), 0.2);
  EXPECT_THAT(window.peak_memory_used_bytes, Optional(7u));
  EXPECT_THAT(window.mean_power_w, Optional(400.0));
  EXPECT_THAT(window.lowest_sm_clock_hz, Optional(1e9));
  EXPECT_THAT(window.lowest_memory_clock_hz, Optional(3e9));
  EXPECT_THAT(window.highest_temperature_c, Optional(70.0));
}

TEST(GpuWindow, AFigureRestsOnTheSamplesThatToldIt) {
  auto samples = with_utilization({0.5, 0.5, 0.5});
  samples[1].utilization.reset();
  samples[2].power_w = 100;
  const GpuWindow window = summarize(samples, 0, 2);
  EXPECT_EQ(window.samples, 3u);
  EXPECT_THAT(window.mean_utilization, Optional(0.5));
  EXPECT_THAT(window.mean_power_w, Optional(100.0));
}

TEST(GpuWindow, SharesOutThrottleReasonsMostFrequentFirst) {
  std::vector<GpuSample> samples(5);
  using Words = std::vector<std::string>;
  samples[0].throttle_reasons = Words{"gpu_idle"};
  samples[1].throttle_reasons = Words{"sw_power_cap"};
  samples[2].throttle_reasons = Words{"sw_power_cap", "hw_slowdown"};
  samples[3].throttle_reasons = Words{};  // none; those of the fifth sample are unknown
  const GpuWindow window = summarize(samples, 0, 0);
  ASSERT_EQ(window.throttle.size(), 3u);
  EXPECT_EQ(window.throttle[0].word, "sw_power_cap");
  EXPECT_DOUBLE_EQ(window.throttle[0].share, 0.5);
  EXPECT_EQ(window.throttle[1].word, "gpu_idle");
  EXPECT_DOUBLE_EQ(window.throttle[1].share, 0.25);
  EXPECT_EQ(window.throttle[2].word, "hw_slowdown");
  EXPECT_THAT(window.throttled_share, Optional(0.5));  // one sample has two reasons of power or heat, but counts once
}

TEST(GpuWindow, IsNotThrottledByReasonsThatAreNeitherPowerNorHeat) {
  std::vector<GpuSample> samples(2);
  using Words = std::vector<std::string>;
  samples[0].throttle_reasons = Words{"gpu_idle", "applications_clocks_setting", "sync_boost"};
  EXPECT_THAT(summarize(samples, 0, 0).throttled_share, Optional(0.0));
  for (const char* reason :
       {"sw_power_cap", "hw_power_brake_slowdown", "hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown"}) {
    samples[1].throttle_reasons = Words{reason};
    EXPECT_THAT(summarize(samples, 0, 0).throttled_share, Optional(0.5)) << reason;
  }
}

TEST(GpuWindow, CountsEccErrorsFromTheLastSampleBeforeItToTheFirstAfterIt) {
  auto samples = with_utilization({0, 0, 0, 0});
  const std::vector<std::uint64_t> counts{4, 5, 5, 8};
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].uncorrected_ecc_errors = counts[i];
  EXPECT_THAT(summarize(samples, 1, 1).new_uncorrected_ecc_errors, Optional(1u));
  EXPECT_THAT(summarize(samples, 1, 2).new_uncorrected_ecc_errors, Optional(4u));
  EXPECT_THAT(summarize(samples, 0, 3).new_uncorrected_ecc_errors, Optional(4u));
  EXPECT_THAT(summarize(samples, 2.2, 2.8).new_uncorrected_ecc_errors, Optional(3u));  // no sample is within the window
  EXPECT_FALSE(summarize(samples, 4, 9).new_uncorrected_ecc_errors);  // a single count gives no difference
}

TEST(CombinedGpuWindow, TakesMeansOfMeansExtremesOfExtremesAndSums) {
  const GpuWindow a{.samples = 30,
                    .mean_utilization = 0.9,
                    .mean_memory_utilization = 0.3,
                    .peak_memory_used_bytes = 7,
                    .mean_power_w = 300,
                    .lowest_sm_clock_hz = 2e9,
                    .lowest_memory_clock_hz = 3e9,
                    .highest_temperature_c = 60,
                    .new_uncorrected_ecc_errors = 1};
  const GpuWindow b{.samples = 10,
                    .mean_utilization = 0.5,
                    .mean_memory_utilization = 0.1,
                    .peak_memory_used_bytes = 9,
                    .mean_power_w = 500,
                    .lowest_sm_clock_hz = 1e9,
                    .lowest_memory_clock_hz = 4e9,
                    .highest_temperature_c = 50,
                    .new_uncorrected_ecc_errors = 2};
  const GpuWindow both = combine(std::vector{a, b});
  EXPECT_EQ(both.samples, 40u);
  EXPECT_DOUBLE_EQ(both.mean_utilization.value_or(-1), 0.7);
  EXPECT_DOUBLE_EQ(both.mean_memory_utilization.value_or(-1), 0.2);
  EXPECT_THAT(both.peak_memory_used_bytes, Optional(9u));
  EXPECT_THAT(both.mean_power_w, Optional(400.0));
  EXPECT_THAT(both.lowest_sm_clock_hz, Optional(1e9));
  EXPECT_THAT(both.lowest_memory_clock_hz, Optional(3e9));
  EXPECT_THAT(both.highest_temperature_c, Optional(60.0));
  EXPECT_THAT(both.new_uncorrected_ecc_errors, Optional(3u));
}

TEST(CombinedGpuWindow, CountsAReasonAsZeroWhereItWasNotSeenAndNotAtAllWhereNoReasonsWereTold) {
  const GpuWindow capped{.throttled_share = 0.4, .throttle = {{"gpu_idle", 0.1}, {"sw_power_cap", 0.4}}};
  const GpuWindow hot{.throttled_share = 0.2, .throttle = {{"sw_power_cap", 0.2}, {"hw_slowdown", 0.2}}};
  const GpuWindow untold;
  const GpuWindow all = combine(std::vector{capped, hot, untold});
  EXPECT_DOUBLE_EQ(all.throttled_share.value_or(-1), 0.3);
  ASSERT_EQ(all.throttle.size(), 3u);
  EXPECT_EQ(all.throttle[0].word, "sw_power_cap");
  EXPECT_DOUBLE_EQ(all.throttle[0].share, 0.3);
  EXPECT_EQ(all.throttle[1].word, "hw_slowdown");
  EXPECT_DOUBLE_EQ(all.throttle[1].share, 0.1);
  EXPECT_DOUBLE_EQ(all.throttle[2].share, 0.05);
}

TEST(CombinedGpuWindow, OfNothingOrOfWindowsThatToldNothingIsEmpty) {
  for (const auto& windows : {std::vector<GpuWindow>{}, std::vector<GpuWindow>(2)}) {
    const GpuWindow window = combine(windows);
    EXPECT_EQ(window.samples, 0u);
    EXPECT_FALSE(window.mean_utilization || window.mean_power_w || window.lowest_sm_clock_hz ||
                 window.throttled_share || window.new_uncorrected_ecc_errors);
    EXPECT_TRUE(window.throttle.empty());
  }
}

TEST(GpuWindow, AResetOfTheGpuIsNoEccError) {
  auto samples = with_utilization({0, 0});
  samples[0].uncorrected_ecc_errors = 3;
  samples[1].uncorrected_ecc_errors = 0;
  EXPECT_THAT(summarize(samples, 0, 1).new_uncorrected_ecc_errors, Optional(0u));
}

}  // namespace
}  // namespace chexbench::measure

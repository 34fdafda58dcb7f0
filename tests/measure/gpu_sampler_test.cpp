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

}  // namespace
}  // namespace chexbench::measure

// Tests the reducer's own work with simulated ranks; communicator_suite.cpp tests it with real ones.
#include "comm/device_reducers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/host_copies.hpp"
#include "core/errors.hpp"
#include "core/half.hpp"

namespace chexbench::comm {
namespace {

// A host reducer over two ranks. The other rank has zeros, so the mean is half of this one's values.
class HalvingReducer final : public Reducer {
 public:
  explicit HalvingReducer(const bool& lost) : lost_(lost) {}
  void reduce(BucketSpan bucket, ReadyEvent) override {
    for (float& value : bucket.floats()) value /= 2;
  }
  void wait() override {
    if (lost_) throw DeviceError("a rank was lost");
  }
  ReducerTimings timings() const override { return {}; }
  int world() const override { return 2; }

 private:
  const bool& lost_;
};

class TwoRanks final : public Communicator {
 public:
  explicit TwoRanks(const bool& lost) : lost_(lost) {}
  int rank() const override { return 0; }
  int world() const override { return 2; }
  void all_reduce_sum(std::span<float>) override {}
  void all_reduce_sum(std::span<double>) override {}
  void broadcast(std::span<std::byte>, int) override {}
  void barrier() override {}
  std::vector<std::string> gather(const std::string&, int) override { return {}; }
  std::unique_ptr<Communicator> first(int) override { return nullptr; }
  std::unique_ptr<Reducer> make_reducer(const spec::CommSpec&) override {
    return std::make_unique<HalvingReducer>(lost_);
  }
  std::unique_ptr<Reducer> make_device_reducer(int, const DeviceReducerConfig&) override { return nullptr; }

 private:
  const bool& lost_;
};

class StagedReducerTest : public testing::Test {
 protected:
  bool lost_ = false;
  std::string log_;  // belongs to the staging thread until wait() returns
  HostEvent ready_ = true;
  StagedReducer reducer_{std::make_unique<TwoRanks>(lost_), spec::CommSpec{}, std::make_unique<HostCopies>(&log_)};
};

TEST_F(StagedReducerTest, WaitsForEachBucketCopiesItOutAndBackInTheOrderOfTheirComing) {
  std::vector<float> a{2, 4}, b{6};
  reducer_.reduce({a.data(), a.size()}, &ready_);
  reducer_.reduce({b.data(), b.size()}, &ready_);
  reducer_.wait();
  EXPECT_THAT(a, testing::ElementsAre(1, 2));
  EXPECT_THAT(b, testing::ElementsAre(3));
  EXPECT_EQ(log_, "whdwhd");
}

TEST_F(StagedReducerTest, WidensHalvesBeforeItAveragesThem) {
  std::vector<Half> f16{to_half(65504), to_half(-3)};
  std::vector<BFloat16> bf16{to_bfloat16(3e38f), to_bfloat16(0.5f), to_bfloat16(-7)};
  reducer_.reduce({f16.data(), f16.size(), FloatType::fp16}, &ready_);
  reducer_.reduce({bf16.data(), bf16.size(), FloatType::bf16}, &ready_);
  reducer_.wait();
  EXPECT_EQ(to_float(f16[0]), 32752);
  EXPECT_EQ(to_float(f16[1]), -1.5f);
  EXPECT_EQ(to_float(bf16[0]), to_float(to_bfloat16(3e38f)) / 2);
  EXPECT_EQ(to_float(bf16[1]), 0.25f);
  EXPECT_EQ(to_float(bf16[2]), -3.5f);
  EXPECT_EQ(reducer_.timings().reduced_bytes, 10u);
}

TEST_F(StagedReducerTest, ReturnsFromReduceBeforeTheBucketIsReady) {
  ready_ = false;
  std::vector<float> a{2};
  reducer_.reduce({a.data(), a.size()}, &ready_);
  EXPECT_EQ(a[0], 2);
  ready_ = true;
  ready_.notify_all();
  reducer_.join(nullptr);  // joins on the host, so it needs no stream
  EXPECT_EQ(a[0], 1);
}

TEST_F(StagedReducerTest, CannotBeCaptured) { EXPECT_FALSE(reducer_.capturable()); }

TEST_F(StagedReducerTest, CountsTheBytesOfOneStepAlone) {
  std::vector<float> a{2, 4};
  for (int step = 0; step < 2; ++step) {
    reducer_.reduce({a.data(), a.size()}, &ready_);
    reducer_.wait();
    EXPECT_EQ(reducer_.timings().reduced_bytes, 8u);
    EXPECT_GT(reducer_.timings().busy_s, 0);
  }
  reducer_.wait();
  EXPECT_EQ(reducer_.timings().reduced_bytes, 0u);
}

TEST_F(StagedReducerTest, ThrowsInWaitAndInCheckThatARankWasLost) {
  reducer_.check();
  lost_ = true;
  std::vector<float> a{2};
  reducer_.reduce({a.data(), a.size()}, &ready_);
  EXPECT_THROW(reducer_.wait(), DeviceError);
  EXPECT_THROW(reducer_.check(), DeviceError);
}

TEST_F(StagedReducerTest, TouchesNoFurtherBucketOnceTheGpuIsLost) {
  std::vector<float> a{2}, b{2};
  reducer_.reduce({a.data(), a.size()}, HostCopies::lost());
  reducer_.reduce({b.data(), b.size()}, &ready_);
  EXPECT_THROW(reducer_.wait(), DeviceError);
  EXPECT_EQ(b[0], 2);
}

TEST_F(StagedReducerTest, RefusesBucketsThatItCannotAverage) {
  std::vector<float> a{2};
  EXPECT_THROW(reducer_.reduce({nullptr, 1}, &ready_), DeviceError);
  EXPECT_THROW(reducer_.reduce({a.data(), 0}, &ready_), DeviceError);
  EXPECT_THROW(reducer_.reduce({a.data(), 1}, nullptr), DeviceError);
  reducer_.wait();
  EXPECT_EQ(a[0], 2);
}

TEST(StagedReducer, FinishesWhatIsUnderWayBeforeItIsGone) {
  const bool lost = false;
  HostEvent ready = true;
  std::vector<float> a{2};
  {
    StagedReducer reducer(std::make_unique<TwoRanks>(lost), spec::CommSpec{}, std::make_unique<HostCopies>());
    reducer.reduce({a.data(), a.size()}, &ready);
  }
  EXPECT_EQ(a[0], 1);
}

}  // namespace
}  // namespace chexbench::comm

#include "comm/background_reducer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <tuple>
#include <vector>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "measure/trace.hpp"

namespace chexbench::comm {
namespace {

// Stands for the other ranks: an average completes once `open` is set, and halves the values.
class FakeRanks {
 public:
  MakeAverage make_average() {
    return [this](std::span<float> values) -> Poll {
      return [this, values] {
        if (lost) throw DeviceError("a rank was lost");
        if (!open) return Progress::waiting;
        for (float& value : values) value /= 2;
        return Progress::done;
      };
    };
  }
  std::atomic<bool> open = true;
  std::atomic<bool> lost = false;
};

class BackgroundReducerTest : public testing::Test {
 protected:
  FakeRanks ranks_;
  CommThread thread_;
  BackgroundReducer reducer_{thread_, &ranks_, 2, ranks_.make_average()};
};

TEST_F(BackgroundReducerTest, AveragesWhatWasAddedBeforeTheWait) {
  std::vector<float> a{2, 4}, b{6};
  reducer_.reduce({a.data(), a.size()}, nullptr);
  reducer_.reduce({b.data(), b.size()}, nullptr);
  reducer_.wait();
  EXPECT_THAT(a, testing::ElementsAre(1, 2));
  EXPECT_THAT(b, testing::ElementsAre(3));
}

TEST_F(BackgroundReducerTest, ReturnsFromReduceBeforeTheAverageIsThere) {
  ranks_.open = false;
  std::vector<float> a{2};
  reducer_.reduce({a.data(), a.size()}, nullptr);
  ranks_.open = true;  // reached, although nothing could complete so far
  reducer_.wait();
  EXPECT_EQ(a[0], 1);
}

TEST_F(BackgroundReducerTest, TracesEachBucketFromItsBeginToItsEnd) {
  measure::TraceRecording recording(10);
  std::vector<float> a{2, 4}, b{6};
  const double begin_s = now_s();
  reducer_.reduce({a.data(), a.size()}, nullptr);
  reducer_.reduce({b.data(), b.size()}, nullptr);
  reducer_.wait();
  const measure::Trace trace = recording.take();
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.threads[0].name, "comm");
  ASSERT_EQ(trace.threads[0].spans.size(), 2u);
  const auto& [first, second] = std::tie(trace.threads[0].spans[0], trace.threads[0].spans[1]);
  EXPECT_EQ(first.kind, measure::SpanKind::bucket);
  EXPECT_EQ(first.detail, 8);
  EXPECT_EQ(second.detail, 4);
  EXPECT_LE(begin_s, first.begin_s);
  EXPECT_LE(first.begin_s, first.end_s);
  EXPECT_LE(first.end_s, second.begin_s);
  EXPECT_NEAR(reducer_.timings().busy_s, first.end_s - first.begin_s + second.end_s - second.begin_s, 1e-9);
}

TEST_F(BackgroundReducerTest, MeetsTheOtherRanksWithoutABucket) {
  measure::TraceRecording recording(10);
  reducer_.meet();
  EXPECT_TRUE(recording.take().threads.empty());
  reducer_.wait();
  EXPECT_EQ(reducer_.timings().reduced_bytes, 0u);
  ranks_.lost = true;
  EXPECT_THROW(reducer_.meet(), DeviceError);
}

TEST_F(BackgroundReducerTest, CountsTheBytesOfOneStepAlone) {
  std::vector<float> a{2, 4};
  for (int step = 0; step < 2; ++step) {
    reducer_.reduce({a.data(), a.size()}, nullptr);
    reducer_.wait();
    EXPECT_EQ(reducer_.timings().reduced_bytes, 2 * sizeof(float));
    EXPECT_GT(reducer_.timings().busy_s, 0);
  }
  reducer_.wait();
  EXPECT_EQ(reducer_.timings().reduced_bytes, 0u);
}

TEST_F(BackgroundReducerTest, ThrowsInWaitWhatWentWrongBehindItsBack) {
  ranks_.lost = true;
  std::vector<float> a{2};
  reducer_.reduce({a.data(), a.size()}, nullptr);
  EXPECT_THROW(reducer_.wait(), DeviceError);
}

TEST_F(BackgroundReducerTest, RefusesBucketsThatItCannotAverage) {
  std::vector<float> a{2};
  int event = 0;
  EXPECT_THROW(reducer_.reduce({nullptr, 1}, nullptr), DeviceError);
  EXPECT_THROW(reducer_.reduce({a.data(), 0}, nullptr), DeviceError);
  EXPECT_THROW(reducer_.reduce({a.data(), 1}, &event), DeviceError);
  reducer_.wait();
  EXPECT_EQ(a[0], 2);
}

TEST(BackgroundReducer, FinishesWhatIsUnderWayBeforeItIsGone) {
  FakeRanks ranks;
  CommThread thread;
  std::vector<float> a{2};
  {
    BackgroundReducer reducer(thread, &ranks, 2, ranks.make_average());
    reducer.reduce({a.data(), a.size()}, nullptr);
  }
  EXPECT_EQ(a[0], 1);
}

}  // namespace
}  // namespace chexbench::comm

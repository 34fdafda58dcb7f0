// Tests the calls of NCCL and CUDA that one rank makes, and how it handles their results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "comm/nccl/nccl_world.hpp"
#include "comm/nccl_standin.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench::comm {
namespace {

using standin::calls;
using standin::script;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class NcclTest : public testing::Test {
 protected:
  void SetUp() override {
    standin::reset();
    ready_ = standin::make_event();  // event1
    stream_ = standin::make_event();
    reset_world();
    calls().clear();
  }
  void TearDown() override { leave(); }
  // Destroying the communicator waits for an abort to finish.
  void leave() {
    reducer_.reset();
    world_.reset();
  }
  void reset_world() {
    world_ = nccl::join(nccl::make_id(), {.rank = 1, .world = 3, .gpu = 2});
    reducer_ = world_->make_reducer(3);
  }
  void reduce(std::size_t count = 3, FloatType type = FloatType::f32) {
    reducer_->reduce({gradients_.data(), count, type}, ready_);
  }

  std::vector<float> gradients_ = std::vector<float>(8);
  cudaEvent_t ready_ = nullptr;
  void* stream_ = nullptr;  // the engine's stream, "event2"
  std::unique_ptr<NcclWorld> world_;
  std::unique_ptr<Reducer> reducer_;
};

TEST_F(NcclTest, AverageOnAStreamOfItsOwnBehindTheReadyEventAndLetTheEngineWaitForTheLast) {
  reduce(3);
  reduce(5);
  reducer_->join(stream_);
  EXPECT_THAT(calls(), ElementsAre("stream1 waits for event1", "time event5 on stream1",
                                   "ncclAllReduce type=7 op=4 count=3 comm1 stream1", "time event6 on stream1",
                                   "stream1 waits for event1", "time event7 on stream1",
                                   "ncclAllReduce type=7 op=4 count=5 comm1 stream1", "time event8 on stream1",
                                   "record event3 on stream1", "event2 waits for event3"));
}

TEST_F(NcclTest, QueuesTheSameInACaptureButTimesEveryReplay) {
  script().capturing = true;
  EXPECT_TRUE(reducer_->capturable());
  reduce();
  reducer_->join(stream_);
  EXPECT_THAT(calls(),
              ElementsAre("stream1 waits for event1", "time event5 on stream1 in every replay",
                          "ncclAllReduce type=7 op=4 count=3 comm1 stream1", "time event6 on stream1 in every replay",
                          "record event3 on stream1", "event2 waits for event3"));
}

// ncclFloat32 is 7, ncclFloat16 6, ncclBfloat16 9; ncclAvg is 4.
TEST_F(NcclTest, AveragesEachTypeAsWhatItIs) {
  for (const auto& [type, expected] :
       {std::pair(FloatType::f32, "type=7 op=4"), {FloatType::fp16, "type=6 op=4"}, {FloatType::bf16, "type=9 op=4"}}) {
    calls().clear();
    reduce(4, type);
    EXPECT_THAT(calls(), Contains(HasSubstr(expected)));
  }
}

// A smaller number is a higher priority; flag 1 is cudaStreamNonBlocking.
TEST_F(NcclTest, MakesItsGpuTheCurrentOneBeforeAnythingIsMade) {
  reducer_.reset();
  world_.reset();
  calls().clear();
  reset_world();
  EXPECT_THAT(calls(), ElementsAre("ncclGetUniqueId", "cudaSetDevice 2",
                                   StartsWith("ncclCommInitRankConfig comm2 rank 1 of 3 blocking=0 id=abcdefghij"),
                                   "create stream2 flags=1 priority=-5", StartsWith("record event"),
                                   StartsWith("host waits for event")));
}

TEST_F(NcclTest, ASmallerWorldIsSplitOffByTheRanksInItAndTheOthers) {
  const auto outside = world_->make_reducer(1);
  EXPECT_EQ(outside, nullptr);
  EXPECT_THAT(calls(), ElementsAre("ncclCommSplit comm1 color=-1 key=1 -> null"));
  calls().clear();
  auto inside = world_->make_reducer(2);
  ASSERT_NE(inside, nullptr);
  EXPECT_EQ(inside->world(), 2);
  EXPECT_EQ(calls().front(), "ncclCommSplit comm1 color=0 key=1 -> comm2");
  inside->reduce({gradients_.data(), 3}, ready_);
  EXPECT_THAT(calls(), Contains("ncclAllReduce type=7 op=4 count=3 comm2 stream2"));
  calls().clear();
  inside.reset();
  EXPECT_THAT(calls(), Contains("ncclCommDestroy comm2"));
}

TEST_F(NcclTest, AStepWithoutBucketsAsksForNothing) {
  reducer_->join(stream_);
  reducer_->wait();
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(NcclTest, WaitLooksAtTheDeviceUntilItIsDone) {
  script().busy_queries = 3;
  reduce();
  reducer_->wait();
  EXPECT_LT(script().busy_queries, 0);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "a later check of a launch would find it";
}

TEST_F(NcclTest, TimesTheLastFinishedStep) {
  EXPECT_EQ(reducer_->timings().busy_s, 0);
  for (const int buckets : {2, 1, 3}) {
    for (int i = 0; i < buckets; ++i) reduce(5, FloatType::bf16);
    reducer_->join(stream_);
    EXPECT_FLOAT_EQ(static_cast<float>(reducer_->timings().busy_s), 2e-3f * static_cast<float>(buckets));
    EXPECT_EQ(reducer_->timings().reduced_bytes, 10u * static_cast<unsigned>(buckets));
  }
}

TEST_F(NcclTest, TimesReplaysOfAStepThatNobodyTellsItOf) {
  reduce();
  reducer_->join(stream_);
  script().capturing = true;
  reduce();
  reduce();
  reducer_->join(stream_);
  EXPECT_FLOAT_EQ(static_cast<float>(reducer_->timings().busy_s), 2e-3f) << "captured, but not replayed yet";
  standin::replay();
  EXPECT_FLOAT_EQ(static_cast<float>(reducer_->timings().busy_s), 4e-3f);
  EXPECT_EQ(reducer_->timings().reduced_bytes, 24u);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// Two graphs alternate: while one runs, the other's times are those of the last finished step.
TEST_F(NcclTest, TellsTwoGraphsApartByWhichEndedLast) {
  script().capturing = true;
  reduce();  // three things to replay: record, all-reduce, record
  reducer_->join(stream_);
  reduce();
  reduce();
  reducer_->join(stream_);
  for (int round = 0; round < 2; ++round) {
    standin::replay_in_part(0, 3);
    EXPECT_FLOAT_EQ(static_cast<float>(reducer_->timings().busy_s), 2e-3f);
    standin::replay_in_part(3, 9);
    EXPECT_FLOAT_EQ(static_cast<float>(reducer_->timings().busy_s), 4e-3f);
  }
}

TEST_F(NcclTest, TellsEachBucketOnceByTheClockOfTheHost) {
  const double before_s = now_s();
  reset_world();
  const double made_s = now_s();
  reduce(3);
  reduce(5, FloatType::bf16);
  EXPECT_THAT(reducer_->take_device_buckets(), IsEmpty()) << "the step has not ended";
  reducer_->join(stream_);
  const std::vector<BucketTime> buckets = reducer_->take_device_buckets();
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_GE(buckets[0].begin_s, before_s);  // the device's clock stands still between all-reduces of 2 ms
  EXPECT_LE(buckets[0].begin_s, made_s);
  for (const int i : {0, 1}) {
    EXPECT_NEAR(buckets[i].begin_s - buckets[0].begin_s, 2e-3 * i, 1e-8);
    EXPECT_NEAR(buckets[i].end_s - buckets[i].begin_s, 2e-3, 1e-8);
  }
  EXPECT_EQ(buckets[0].bytes, 12u);
  EXPECT_EQ(buckets[1].bytes, 10u);
  EXPECT_THAT(reducer_->take_device_buckets(), IsEmpty());
}

TEST_F(NcclTest, TellsTheBucketsOfAllReplaysSinceTheLastCallInTheirOrder) {
  script().capturing = true;
  for (const int buckets : {1, 2}) {
    for (int i = 0; i < buckets; ++i) reduce(static_cast<std::size_t>(buckets));
    reducer_->join(stream_);
  }
  EXPECT_THAT(reducer_->take_device_buckets(), IsEmpty()) << "captured, but not replayed yet";
  standin::replay_in_part(3, 9);  // the second graph first
  standin::replay_in_part(0, 3);
  const std::vector<BucketTime> buckets = reducer_->take_device_buckets();
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_THAT(buckets,
              ElementsAre(Field(&BucketTime::bytes, 8u), Field(&BucketTime::bytes, 8u), Field(&BucketTime::bytes, 4u)));
  for (const int i : {1, 2}) EXPECT_NEAR(buckets[i].end_s - buckets[0].end_s, 2e-3 * i, 1e-8);
  standin::replay_in_part(0, 2);
  EXPECT_THAT(reducer_->take_device_buckets(), IsEmpty()) << "under way";
  standin::replay_in_part(2, 3);
  EXPECT_EQ(reducer_->take_device_buckets().size(), 1u);
}

TEST_F(NcclTest, KeepsTheTimesOfAStepWhoseNextReplayHasBegun) {
  script().capturing = true;
  reduce();
  reducer_->join(stream_);
  standin::replay();
  ASSERT_FLOAT_EQ(static_cast<float>(reducer_->timings().busy_s), 2e-3f);
  standin::replay_in_part(0, 2);
  EXPECT_FLOAT_EQ(static_cast<float>(reducer_->timings().busy_s), 2e-3f);
}

TEST_F(NcclTest, ACaptureThatFailedLeavesNoBucketsToTheNextStep) {
  script().capturing = true;
  reduce();
  script().capturing = false;  // ended by the engine: no join
  reduce();
  reducer_->join(stream_);
  EXPECT_EQ(reducer_->timings().reduced_bytes, 12u);
}

TEST_F(NcclTest, ALostRankIsFoundWhileTheHostWaitsAndAborts) {
  reducer_->check();
  script().busy_queries = 1000;
  reduce();
  script().async_error = ncclRemoteError;
  EXPECT_THAT(message_of<DeviceError>([&] { reducer_->wait(); }),
              AllOf(HasSubstr("remote process exited"), HasSubstr("connection closed by peer 10.0.0.7")));
  leave();
  EXPECT_THAT(calls(), Contains("ncclCommAbort comm1"));
}

TEST_F(NcclTest, ALostRankIsFoundByCheckAndSaidAgainByEveryLaterCall) {
  script().async_error = ncclRemoteError;
  EXPECT_THAT(message_of<DeviceError>([&] { reducer_->check(); }), HasSubstr("remote process exited"));
  script().async_error = ncclSuccess;
  EXPECT_THAT(message_of<DeviceError>([&] { reducer_->check(); }), HasSubstr("remote process exited"));
  EXPECT_THAT(message_of<DeviceError>([&] { reduce(); }), HasSubstr("remote process exited"));
  EXPECT_THAT(message_of<DeviceError>([&] { world_->make_reducer(2); }), HasSubstr("remote process exited"));
  leave();
  EXPECT_THAT(calls(), Not(Contains(StartsWith("ncclAllReduce"))));
  EXPECT_EQ(std::ranges::count(calls(), "ncclCommAbort comm1"), 1);
  EXPECT_THAT(calls(), Not(Contains(StartsWith("ncclCommDestroy"))));
}

TEST_F(NcclTest, IsReadyWhenItIsMadeAlthoughItDoesNotBlock) {
  script().polls_in_progress = 3;
  reset_world();
  EXPECT_LE(script().polls_in_progress, 0);
}

TEST_F(NcclTest, ARankThatGivesUpAbortsAndSaysWhyInEveryLaterCall) {
  reducer_->give_up("rank 1 has waited 60 s");
  EXPECT_EQ(message_of<DeviceError>([&] { reducer_->check(); }), "rank 1 has waited 60 s");
  EXPECT_EQ(message_of<DeviceError>([&] { reduce(); }), "rank 1 has waited 60 s");
  leave();
  EXPECT_EQ(std::ranges::count(calls(), "ncclCommAbort comm1"), 1);
  EXPECT_THAT(calls(), Not(Contains(StartsWith("ncclCommDestroy"))));
}

TEST_F(NcclTest, AnAllReduceThatIsRefusedAborts) {
  script().all_reduce = ncclInvalidUsage;
  EXPECT_THAT(message_of<DeviceError>([&] { reduce(); }), HasSubstr("ncclAllReduce"));
  leave();
  EXPECT_THAT(calls(), Contains("ncclCommAbort comm1"));
}

TEST_F(NcclTest, IsDestroyedWhenItsLastUserIsGone) {
  world_.reset();
  EXPECT_THAT(calls(), IsEmpty());
  reducer_.reset();
  EXPECT_EQ(calls().back(), "ncclCommDestroy comm1");
}

TEST_F(NcclTest, IsAbortedWhereAnExceptionEndsIt) {
  reducer_.reset();
  try {
    const auto leaving = std::move(world_);
    throw DataError("a broken file");
  } catch (const DataError&) {
  }
  EXPECT_THAT(calls(), Contains("ncclCommAbort comm1"));
  EXPECT_THAT(calls(), Not(Contains("ncclCommDestroy comm1")));
}

TEST_F(NcclTest, RefusesBucketsThatItCannotAverage) {
  EXPECT_THROW(reducer_->reduce({nullptr, 1}, ready_), DeviceError);
  EXPECT_THROW(reducer_->reduce({gradients_.data(), 0}, ready_), DeviceError);
  EXPECT_THROW(reducer_->reduce({gradients_.data(), 1}, nullptr), DeviceError);
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(NcclTest, AGpuThatIsNotThereIsAnErrorInTheWordsOfCuda) {
  script().set_device = cudaErrorNoDevice;
  EXPECT_THAT(message_of<DeviceError>([&] { reset_world(); }),
              AllOf(HasSubstr("cudaSetDevice"), HasSubstr("no CUDA-capable device")));
}

}  // namespace
}  // namespace chexbench::comm

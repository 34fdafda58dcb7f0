#include "engine/cuda/training/gradients.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"

struct CUstream_st {};

// Replaces the events of stream.hpp by ones that know the stream on which they were last recorded.
namespace chexbench::engine::cuda {

Event::Event() : event_(new Stream{}) {}
Event::~Event() { delete static_cast<Stream*>(event_); }
void Event::record(Stream stream) { *static_cast<Stream*>(event_) = stream; }

namespace {

struct Averaged {
  void* gradient;
  float* sum;
  std::size_t count;
  FloatType type;
  int batches;
};
std::vector<Averaged> averaged;  // Since the test began.

}  // namespace

// Replaces the launches of Accumulation.
namespace kernels {

void launch_accumulate(const AccumulateCall&, bool, Stream) { ADD_FAILURE() << "no batch ends here"; }
void launch_average(const AccumulateCall& call, int batches, Stream) {
  averaged.push_back({call.gradient, call.sum, static_cast<std::size_t>(call.count), call.type, batches});
}

}  // namespace kernels

namespace {

using spec::Precision;

// Small enough for dozens of buckets.
const spec::CommSpec kComm{.bucket_bytes = 2'000'000, .first_bucket_bytes = 70'000};

struct Reduced {
  BucketSpan span;
  ReadyEvent ready = nullptr;
  Stream recorded_on = nullptr;  // When it was reduced.

  friend bool operator==(const Reduced& a, const Reduced& b) {
    return a.span.data == b.span.data && a.span.count == b.span.count && a.span.type == b.span.type &&
           a.ready == b.ready && a.recorded_on == b.recorded_on;
  }
};

class NotingReducer final : public Reducer {
 public:
  explicit NotingReducer(int world) : world_(world) {}
  void reduce(BucketSpan bucket, ReadyEvent ready) override {
    notes.push_back({bucket, ready, *static_cast<Stream*>(ready)});
  }
  void wait() override {}
  ReducerTimings timings() const override { return {}; }
  int world() const override { return world_; }

  std::vector<Reduced> notes;

 private:
  int world_;
};

// A network with memory for its step; nothing writes to that memory.
struct Planned {
  Planned(const std::string& network, Precision step_precision, int batches_of_step = 1)
      : graph(model::make_network(network, 224)), precision(step_precision), batches(batches_of_step) {
    averaged.clear();
  }

  const model::Graph graph;
  const Precision precision;
  const int batches;
  const Program program = lower(graph);
  const ParameterLayout layout{graph, program};
  const MemoryPlan plan =
      plan_memory(graph, program, {.images = 1, .precision = precision, .accumulates = batches > 1});
  const std::unique_ptr<std::byte[]> memory = std::make_unique_for_overwrite<std::byte[]>(plan.total_bytes());
  const Addresses addresses{{.graph = graph,
                             .program = program,
                             .parameters = layout,
                             .plan = plan,
                             .memory = memory.get(),
                             .images = 1,
                             .precision = precision,
                             .batches_of_step = batches}};
  const Accumulation accumulation{addresses};
  DeviceBuckets buckets{addresses, accumulation, kComm};
};

std::vector<ParameterPlace> matrices(const ParameterLayout& layout) {
  std::vector<ParameterPlace> places;
  std::ranges::copy_if(layout.places(), std::back_inserter(places),
                       [](const ParameterPlace& place) { return place.kind == ParameterKind::matrix; });
  return places;
}

struct Case {
  const char* network;
  Precision precision;
  FloatType type;
  std::size_t bytes_each;
};

class DeviceBucketsOf : public testing::TestWithParam<Case> {
 protected:
  Planned planned_{GetParam().network, GetParam().precision};
  const std::vector<DeviceBuckets::Bucket>& buckets_ = planned_.buckets.matrices();
};

TEST_P(DeviceBucketsOf, HoldEachMatrixOnceInTheOrderOfBackward) {
  const std::byte* next = planned_.addresses.at(planned_.plan.regions.parameters[0].gradients);
  std::size_t end = 0;
  for (const DeviceBuckets::Bucket& bucket : buckets_) {
    EXPECT_EQ(bucket.span.data, next);
    EXPECT_EQ(bucket.span.type, GetParam().type);
    end += bucket.span.count;
    EXPECT_EQ(bucket.end, end);
    next += bucket.span.count * GetParam().bytes_each;
  }
  EXPECT_EQ(end, planned_.layout.size(ParameterKind::matrix));
}

TEST_P(DeviceBucketsOf, AreClosedByTheMatrixThatReachesTheirLimitInBytes) {
  const std::vector<ParameterPlace> places = matrices(planned_.layout);
  auto place = places.begin();
  ASSERT_GT(buckets_.size(), 5u);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const auto limit = static_cast<std::size_t>(i == 0 ? kComm.first_bucket_bytes : kComm.bucket_bytes);
    std::size_t bytes = 0;
    while (bytes < limit && place != places.end()) bytes += place++->count * GetParam().bytes_each;
    EXPECT_EQ(buckets_[i].span.bytes(), bytes) << "bucket " << i;
  }
  EXPECT_TRUE(place == places.end());
}

TEST_P(DeviceBucketsOf, VectorsAreOneBucketOfF32) {
  const DeviceBuckets::Bucket& bucket = planned_.buckets.vectors();
  EXPECT_EQ(bucket.span.data, planned_.addresses.at(planned_.plan.regions.parameters[1].gradients));
  EXPECT_EQ(bucket.span.count, planned_.layout.size(ParameterKind::vector));
  EXPECT_EQ(bucket.span.type, FloatType::f32);
  EXPECT_EQ(bucket.end, bucket.span.count);
}

// Reports the places as backward does, one after another.
TEST_P(DeviceBucketsOf, AreReducedOnceAStepAsSoonAsTheyAreComplete) {
  NotingReducer reducer(2);
  planned_.buckets.begin_step();
  std::size_t complete[kParameterKinds] = {0, 0};
  for (const ParameterPlace& place : planned_.layout.places()) {
    complete[static_cast<std::size_t>(place.kind)] = place.offset + place.count;
    planned_.buckets.complete(complete[0], complete[1], nullptr, reducer);
    std::size_t expected = complete[1] == planned_.buckets.vectors().end ? 1 : 0;
    for (const DeviceBuckets::Bucket& bucket : buckets_) expected += bucket.end <= complete[0] ? 1 : 0;
    ASSERT_EQ(reducer.notes.size(), expected) << place.parameter.info.name;
  }
  EXPECT_EQ(reducer.notes.size(), buckets_.size() + 1);
}

INSTANTIATE_TEST_SUITE_P(Networks, DeviceBucketsOf,
                         testing::Values(Case{"resnet50", Precision::f32, FloatType::f32, 4},
                                         Case{"resnet50", Precision::fp16, FloatType::fp16, 2},
                                         Case{"densenet121", Precision::tf32, FloatType::f32, 4},
                                         Case{"densenet121", Precision::bf16, FloatType::bf16, 2}),
                         [](const auto& test) {
                           return fmt::format("{}_{}", test.param.network, spec::to_string(test.param.precision));
                         });

class DeviceBucketsInAStep : public testing::Test {
 protected:
  void complete(std::size_t matrices, std::size_t vectors) {
    planned_.buckets.complete(matrices, vectors, &stream_, reducer_);
  }
  std::size_t end(std::size_t bucket) const { return planned_.buckets.matrices()[bucket].end; }
  std::size_t reduced() const { return reducer_.notes.size(); }

  Planned planned_{"resnet50", Precision::fp16};
  const std::size_t count_ = planned_.buckets.matrices().size();
  const std::size_t all_ = planned_.layout.size(ParameterKind::matrix);
  const std::size_t vectors_ = planned_.layout.size(ParameterKind::vector);
  CUstream_st stream_;
  NotingReducer reducer_{2};
};

TEST_F(DeviceBucketsInAStep, WaitForTheirLastElement) {
  complete(0, 0);
  complete(end(0) - 1, 0);
  EXPECT_EQ(reduced(), 0u);
  complete(end(0), 0);
  EXPECT_EQ(reduced(), 1u);
  complete(end(2), vectors_ - 1);
  EXPECT_EQ(reduced(), 3u);
  complete(all_ - 1, vectors_ - 1);
  EXPECT_EQ(reduced(), count_ - 1);
}

TEST_F(DeviceBucketsInAStep, AreReducedInTheirOrderTheVectorsBehindTheMatricesOfTheSameCall) {
  complete(end(1), 0);
  complete(all_, vectors_);
  ASSERT_EQ(reduced(), count_ + 1);
  for (std::size_t i = 0; i < count_; ++i)
    EXPECT_EQ(reducer_.notes[i].span.data, planned_.buckets.matrices()[i].span.data);
  EXPECT_EQ(reducer_.notes.back().span.data, planned_.buckets.vectors().span.data);
}

// The first convolution's weights are complete last, and no norm's parameters follow them.
TEST_F(DeviceBucketsInAStep, VectorsDoNotWaitForTheLastMatrices) {
  complete(end(count_ - 2), vectors_);
  EXPECT_EQ(reduced(), count_);
  EXPECT_EQ(reducer_.notes.back().span.data, planned_.buckets.vectors().span.data);
  complete(all_, vectors_);
  EXPECT_EQ(reducer_.notes.back().span.data, planned_.buckets.matrices().back().span.data);
}

TEST_F(DeviceBucketsInAStep, AreReducedAgainOnlyInTheNextStep) {
  complete(all_, vectors_);
  const std::vector<Reduced> first = reducer_.notes;
  complete(all_, vectors_);
  EXPECT_EQ(reduced(), first.size());
  reducer_.notes.clear();
  planned_.buckets.begin_step();
  complete(all_, vectors_);
  EXPECT_EQ(reducer_.notes, first);
}

TEST_F(DeviceBucketsInAStep, HaveEachAnEventOfTheirOwnRecordedBeforeTheyAreReduced) {
  complete(all_, vectors_);
  std::set<ReadyEvent> events;
  for (const Reduced& note : reducer_.notes) {
    EXPECT_EQ(note.recorded_on, &stream_);
    events.insert(note.ready);
  }
  EXPECT_EQ(events.size(), count_ + 1);
}

TEST_F(DeviceBucketsInAStep, OfOneBatchAreReducedAsTheyAre) {
  complete(all_, vectors_);
  EXPECT_TRUE(averaged.empty());
}

TEST(DeviceBucketsOfSeveralBatches, AreAveragedWithTheirOwnSumsBeforeTheyAreReduced) {
  Planned planned("densenet121", Precision::fp16, 3);
  class Comparing final : public Reducer {
   public:
    void reduce(BucketSpan bucket, ReadyEvent) override {
      ASSERT_EQ(averaged.size(), ++reduced);
      EXPECT_EQ(averaged.back().gradient, bucket.data);
      EXPECT_EQ(averaged.back().count, bucket.count);
      EXPECT_EQ(averaged.back().batches, 3);
    }
    void wait() override {}
    ReducerTimings timings() const override { return {}; }
    int world() const override { return 2; }

    std::size_t reduced = 0;
  } reducer;
  planned.buckets.begin_step();
  planned.buckets.complete(planned.layout.size(ParameterKind::matrix), planned.layout.size(ParameterKind::vector),
                           nullptr, reducer);
  ASSERT_EQ(reducer.reduced, planned.buckets.matrices().size() + 1);
  const float* sum = planned.addresses.at<float>(planned.plan.regions.parameters[0].sums);
  for (std::size_t i = 0; i + 1 < averaged.size(); sum += averaged[i++].count) {
    EXPECT_EQ(averaged[i].sum, sum);
    EXPECT_EQ(averaged[i].type, FloatType::fp16);
  }
  EXPECT_EQ(averaged.back().sum, planned.addresses.at<float>(planned.plan.regions.parameters[1].sums));
  EXPECT_EQ(averaged.back().type, FloatType::f32);
}

TEST_F(DeviceBucketsInAStep, AreNotReducedInAWorldOfOne) {
  NotingReducer alone(1);
  planned_.buckets.complete(all_, vectors_, &stream_, alone);
  EXPECT_TRUE(alone.notes.empty());
}

}  // namespace
}  // namespace chexbench::engine::cuda

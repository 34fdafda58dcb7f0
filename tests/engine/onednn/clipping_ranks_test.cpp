// Clips gradients on two ranks, which are two threads here, and on one rank over the joined batch: as under PyTorch's
// DistributedDataParallel, the mean over the ranks is clipped, by the norm of that mean.
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <thread>

#include "../gradients.hpp"
#include "engine/checkpoint_tensors.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::clipping {
namespace {

constexpr int kSize = 32, kImages = 8, kSteps = 3;  // images of all ranks in a step
constexpr double kRate = 0.01, kClip = 0.01;

// Shared by ranks that are threads.
struct Meeting {
  explicit Meeting(int ranks) : barrier(ranks), buckets(static_cast<std::size_t>(ranks)) {}
  std::barrier<> barrier;
  std::vector<std::vector<BucketSpan>> buckets;  // of each rank, of the step
};

// Averages when all ranks wait, so no bucket contains a mean before the last one was handed over.
class MeetingReducer final : public Reducer {
 public:
  MeetingReducer(Meeting& meeting, int rank) : meeting_(meeting), rank_(static_cast<std::size_t>(rank)) {}
  void reduce(BucketSpan bucket, ReadyEvent) override { own().push_back(bucket); }
  void wait() override {
    double squares = 0;
    for (const BucketSpan& bucket : own()) {
      for (const float value : bucket.floats()) squares += static_cast<double>(value) * static_cast<double>(value);
    }
    own_norm = std::sqrt(squares);
    buckets = own().size();
    meeting_.barrier.arrive_and_wait();
    if (rank_ == 0) average();
    meeting_.barrier.arrive_and_wait();
    own().clear();
  }
  ReducerTimings timings() const override { return {}; }
  int world() const override { return static_cast<int>(meeting_.buckets.size()); }

  double own_norm = 0;  // of this rank's gradients in the last step, before they were averaged
  std::size_t buckets = 0;

 private:
  std::vector<BucketSpan>& own() { return meeting_.buckets[rank_]; }
  void average() {
    const auto ranks = static_cast<float>(world());
    for (std::size_t bucket = 0; bucket < own().size(); ++bucket) {
      for (std::size_t i = 0; i < own()[bucket].count; ++i) {
        float sum = 0;
        for (const auto& of_rank : meeting_.buckets) sum += of_rank[bucket].floats()[i];
        for (const auto& of_rank : meeting_.buckets) of_rank[bucket].floats()[i] = sum / ranks;
      }
    }
  }

  Meeting& meeting_;
  const std::size_t rank_;
};

// Images [first, first + images) of an endless series. The first half of those of a step has other labels than the
// second, so that the gradients of two ranks point away from each other.
BatchLease series(int images, int first) {
  const auto pool = BatchPool::create({.images = images, .height = kSize, .width = kSize, .deliver = Deliver::u8}, 1,
                                      host_allocator());
  BatchLease batch = pool->acquire({});
  std::vector<float> noise(kSize * kSize);
  for (int image = 0; image < images; ++image) {
    model::fill_formula_signed("clipping", std::to_string(first + image), noise);
    const bool is_first_half = (first + image) % kImages < kImages / 2;
    const std::span<float> labels = batch->label(image);
    for (std::size_t label = 0; label < labels.size(); ++label)
      labels[label] = is_first_half || label % 3 == 0 ? 0.0f : 1.0f;
    for (std::size_t pixel = 0; pixel < noise.size(); ++pixel)
      batch->image(image)[pixel] = static_cast<std::byte>(static_cast<std::uint8_t>(127.0f + 127.0f * noise[pixel]));
  }
  batch->valid = images;
  return batch;
}

double distance(const Tensors& a, const Tensors& b) {
  double squares = 0;
  for (const auto& [name, values] : a) squares += std::pow(engine::distance(values, b.at(name)), 2);
  return std::sqrt(squares);
}

struct RankResult {
  std::vector<Tensors> weights;               // at first, and after each step
  std::vector<double> own_norms, mean_norms;  // of each step
  std::size_t buckets = 0;
};

// How the images of a step are shared out.
struct Sharing {
  int ranks = 1, batches = 1;
  int batch_images() const { return kImages / ranks / batches; }
};

RankResult train(const Sharing& sharing, int rank, Meeting& meeting, double clip) {
  EngineConfig config;
  config.model.name = "mobilenet_v2";
  config.model.image_size = kSize;
  config.model.dropout = false;
  config.model.batch_norm = spec::BatchNormMode::frozen;  // the statistics of a smaller batch are other ones
  config.training.batch_size = sharing.batch_images();
  config.training.accumulate_steps = sharing.batches;
  config.training.optimizer = spec::OptimizerKind::sgd;
  config.training.learning_rate = kRate;
  config.training.momentum = 0;
  config.training.clip_gradient_norm = clip;
  config.comm.first_bucket_bytes = 4096;
  config.comm.bucket_bytes = 1 << 20;
  config.deliver = Deliver::u8;
  config.world = sharing.ranks;
  config.rank = rank;
  const auto engine = make_engine("onednn", config);
  MeetingReducer reducer(meeting, rank);
  RankResult result;
  result.weights.push_back(weights_of(*engine));
  for (int step = 0; step < kSteps; ++step) {
    for (int batch = 0; batch < sharing.batches; ++batch) {
      const int before = (rank * sharing.batches + batch) * sharing.batch_images();
      engine->step(series(sharing.batch_images(), step * kImages + before), reducer);
    }
    result.weights.push_back(weights_of(*engine));
    result.own_norms.push_back(reducer.own_norm);
    double squares = 0;
    for (const TensorInfo& info : engine->parameters()) squares += std::pow(norm(gradient(*engine, info)), 2);
    result.mean_norms.push_back(std::sqrt(squares));
  }
  result.buckets = reducer.buckets;
  return result;
}

std::vector<RankResult> train(const Sharing& sharing, double clip = kClip) {
  Meeting meeting(sharing.ranks);
  std::vector<RankResult> results(static_cast<std::size_t>(sharing.ranks));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < sharing.ranks; ++rank)
    threads.emplace_back([&, rank] { results[static_cast<std::size_t>(rank)] = train(sharing, rank, meeting, clip); });
  threads.clear();
  return results;
}

TEST(OnednnRanks, ClipTheMeanOverAllAsOneRankClipsThatOfTheJoinedBatch) {
  const RankResult one = train({}).front();
  for (const int batches : {1, 2}) {
    const std::vector<RankResult> two = train({.ranks = 2, .batches = batches});
    EXPECT_GT(two[0].buckets, 5u) << "several all-reduces make a step";
    for (std::size_t step = 0; step < kSteps; ++step) {
      SCOPED_TRACE(testing::Message() << "step " << step << " of " << batches << " batches on each rank");
      const double mean_norm = two[0].mean_norms[step];
      ASSERT_GT(mean_norm, 2 * kClip) << "nothing to clip";
      EXPECT_EQ(two[1].mean_norms[step], mean_norm);
      EXPECT_NEAR(mean_norm, one.mean_norms[step], 1e-3 * mean_norm);
      // Each rank's own gradients are longer than their mean: clipped before they are averaged, they would give a
      // shorter step.
      for (const RankResult& rank : two) EXPECT_GT(rank.own_norms[step], 1.02 * mean_norm);
      EXPECT_NEAR(distance(two[0].weights[step + 1], two[0].weights[step]), kRate * kClip, 2e-3 * kRate * kClip);
      EXPECT_TRUE(two[0].weights[step + 1] == two[1].weights[step + 1]) << "the same bits on both ranks";
      EXPECT_LT(distance(two[0].weights[step + 1], one.weights[step + 1]), 5e-3 * kRate * kClip);
    }
  }
}

TEST(OnednnRanks, ClipNothingBelowTheLimit) {
  const double limit = 1e6;
  const RankResult two = train({.ranks = 2}, limit).front();
  ASSERT_LT(two.mean_norms[0], limit);
  EXPECT_NEAR(distance(two.weights[1], two.weights[0]), kRate * two.mean_norms[0], 2e-3 * kRate * two.mean_norms[0]);
}

}  // namespace
}  // namespace chexbench::engine::clipping

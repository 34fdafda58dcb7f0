
#include <algorithm>
#include <stop_token>

#include "core/random.hpp"
#include "pipeline/builder.hpp"
#include "pipeline/op_stats.hpp"

namespace chexbench::pipeline {
namespace {

// Normalized gray values are between (0 - 0.485) / 0.229 and (1 - 0.406) / 0.225: the extremes over the three channels
// with ImageNet's means and standard deviations.
constexpr float kLowest = -2.118f;
constexpr float kHighest = 2.64f;
constexpr double kLabelShare = 0.125;

void fill_labels(Batch& batch, bool exclusive, RandomStream& random) {
  if (!exclusive) {
    for (float& label : batch.labels) label = random.uniform() < kLabelShare ? 1.0f : 0.0f;
    return;
  }
  std::ranges::fill(batch.labels, 0.0f);
  for (int slot = 0; slot < batch.shape.images; ++slot)
    batch.label(slot)[random.below(static_cast<std::uint64_t>(batch.shape.labels))] = 1;
}

void fill(Batch& batch, bool exclusive, RandomStream random) {
  if (batch.shape.deliver == Deliver::f32) {
    for (float& value : batch.f32()) {
      value = kLowest + (kHighest - kLowest) * static_cast<float>(random.uniform());
    }
  } else {
    for (std::size_t i = 0; i < batch.shape.bytes(); ++i) batch.images[i] = static_cast<std::byte>(random.below(256));
  }
  fill_labels(batch, exclusive, random);
  for (std::size_t i = 0; i < batch.ids.size(); ++i) batch.ids[i] = {.image = static_cast<std::uint32_t>(i)};
}

class ReadyPipeline final : public Pipeline {
 public:
  explicit ReadyPipeline(const PipelineContext& context)
      : pool_(BatchPool::create(context.shape, kLeasesOut, context.allocator)) {
    // A batch keeps its contents when it returns to its pool, so each one is filled only once.
    std::vector<BatchLease> all;
    for (std::size_t i = 0; i < kLeasesOut; ++i) {
      all.push_back(pool_->acquire(stop_.get_token()));
      fill(*all.back(), context.exclusive_labels, RandomStream(derive_seed(context.seed, i)));
    }
  }

  BatchLease next() override {
    if (stop_.stop_requested()) return {};
    BatchLease batch = pool_->acquire(stop_.get_token());
    if (batch) {
      batch->valid = batch->shape.images;
      stats_.elements_out.add(1);
    }
    return batch;
  }
  void stop() override { stop_.request_stop(); }
  std::vector<measure::OpCounters> counters() const override { return {stats_.snapshot("ready")}; }

 private:
  std::stop_source stop_;
  std::shared_ptr<BatchPool> pool_;
  OpStats stats_;
};

}  // namespace

std::unique_ptr<Pipeline> make_ready_pipeline(const PipelineContext& context) {
  return std::make_unique<ReadyPipeline>(context);
}

}  // namespace chexbench::pipeline

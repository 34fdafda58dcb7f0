// Tests epochs of worker_batches, followed by a repeat as in PyTorch.
#include <gtest/gtest.h>

#include "core/clock.hpp"
#include "pipeline/harness.hpp"

namespace chexbench::pipeline::test {
namespace {

constexpr std::size_t kBatchesOfAnEpoch = 6;  // batches of 4 from 24 images

spec::PipelineSpec workers(const Parameters& parameters) {
  return list({op("list_files"), op("worker_batches", parameters), op("repeat")});
}

std::unique_ptr<Pipeline> start(const spec::PipelineSpec& pipeline) {
  return make_pipeline(context_of(xrays(spec::DataFormat::images), pipeline, {}));
}

// Returns a start time that is clearly longer than 24 images take, however slow the machine and the build are.
double long_start_s() {
  const auto pipeline = start(workers({}));
  const double begin_s = now_s();
  drain(*pipeline, kBatchesOfAnEpoch);
  return 1 + 2 * (now_s() - begin_s);
}

double busy_s(const Pipeline& pipeline) { return pipeline.counters()[1].busy_wall_s; }

TEST(WorkerBatches, LoadsNothingAheadOverAnEpochsEnd) {
  const auto pipeline = start(workers({{"num_workers", std::int64_t{2}}, {"prefetch_factor", std::int64_t{8}}}));
  drain(*pipeline, kBatchesOfAnEpoch);
  sleep_until_s(now_s() + 0.05);
  EXPECT_EQ(pipeline->counters()[1].images_decoded, 24u);
  drain(*pipeline, 1);
  EXPECT_GT(pipeline->counters()[1].images_decoded, 24u);
}

TEST(WorkerBatches, StartsWorkersOnceWherePersistentAndElseInEachEpoch) {
  const double start_s = long_start_s();
  for (const bool persistent : {true, false}) {
    const auto pipeline = start(workers({{"persistent", persistent}, {"start_s", start_s}}));
    const auto first = drain(*pipeline, kBatchesOfAnEpoch);
    const double first_s = busy_s(*pipeline);
    EXPECT_GE(first_s, start_s);
    const double begin_s = now_s();
    EXPECT_EQ(order(drain(*pipeline, kBatchesOfAnEpoch)), order(first));
    EXPECT_EQ(now_s() - begin_s >= start_s, !persistent);
    EXPECT_EQ(busy_s(*pipeline) - first_s >= start_s, !persistent) << "starting is the op's own time";
  }
}

TEST(WorkerBatches, CanBeStoppedWhileWorkersStart) {
  const auto pipeline = start(workers({{"start_s", 30.0}}));
  const double begin_s = now_s();
  pipeline->stop();
  EXPECT_FALSE(pipeline->next());
  EXPECT_LT(now_s() - begin_s, 10);
}

}  // namespace
}  // namespace chexbench::pipeline::test

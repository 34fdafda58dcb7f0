// Tests running pipelines that are stopped or abandoned in the middle, with combinations of ops that no preset has.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "core/errors.hpp"
#include "pipeline/tiny_set.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;

class Stopping : public testing::Test {
 protected:
  static spec::OpSpec with(const char* name, const char* parameter, spec::ParameterValue value) {
    return op(name, {{parameter, std::move(value)}});
  }

  // Returns endless lists in which nearly every op has a thread.
  std::vector<spec::PipelineSpec> lists() const {
    const auto files = op("list_files"), repeat = op("repeat"), prefetch = op("prefetch"), batch = op("batch");
    const auto many_calls = with("map", "parallel_calls", std::int64_t{6});
    spec::OpSpec any_order = many_calls;
    any_order.parameters.at("deterministic") = false;
    const auto file = with("cache", "to", set_.folder() + "/cache");
    return {list({files, prefetch, op("interleave"), prefetch, many_calls, prefetch, batch, prefetch, repeat}),
            list({files, op("interleave"), any_order, batch, repeat, prefetch}),
            list({files, repeat, op("worker_batches"), op("shuffle", {{"buffer", std::int64_t{2}}}), prefetch}),
            list({files, op("read"), file, repeat, many_calls, batch, prefetch}),
            list({files, op("interleave"), op("map_and_batch"), op("cache"), repeat, prefetch})};
  }

  std::unique_ptr<Pipeline> start(const spec::PipelineSpec& pipeline, const Setting& setting) const {
    return make_pipeline(context_of(set_.of(DataFormat::tfrecord), pipeline, setting));
  }

  const TinySet set_{{3, 1, 4, 2}};
  const Setting setting_{.batch = 2, .size = 8};
};

TEST_F(Stopping, AfterAnyNumberOfBatchesLeavesNoThread) {
  for (const spec::PipelineSpec& pipeline : lists()) {
    for (std::size_t batches = 0; batches < 8; ++batches) {
      const std::size_t before = thread_count();
      auto running = start(pipeline, setting_);
      EXPECT_EQ(drain(*running, batches).size(), 2 * batches);
      if (batches % 2 == 0) {
        running->stop();
        EXPECT_FALSE(running->next());
      }
      running.reset();
      EXPECT_TRUE(threads_fall_to(before)) << pipeline.ops[2].op << " " << batches;
    }
  }
}

TEST_F(Stopping, WhileTheFirstEpochWaitsForItsInputLeavesNoCacheFile) {
  const std::string path = set_.folder() + "/cache";
  const auto pipeline = list({with("list_files", "delay_s", 3600.0), op("prefetch"), op("read"),
                              with("cache", "to", path), op("prefetch"), op("map_and_batch")});
  auto running = start(pipeline, setting_);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // for the cache to ask for its first record
  running->stop();
  running.reset();
  EXPECT_FALSE(std::filesystem::exists(path + ".0-of-1"));
}

TEST_F(Stopping, WakesAConsumerThatHoldsEveryBatchAndLeavesItThem) {
  for (const spec::PipelineSpec& pipeline : lists()) {
    const std::size_t before = thread_count();
    std::vector<BatchLease> held;
    std::vector<std::vector<Delivered>> images;
    {
      const auto running = start(pipeline, setting_);
      std::atomic<std::size_t> taken = 0;
      std::jthread stopper([&] {
        while (taken < kLeasesOut) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // for the consumer to ask for one too many
        running->stop();
      });
      while (BatchLease batch = running->next()) {
        images.push_back(images_of(*batch));
        held.push_back(std::move(batch));
        taken = held.size();
      }
    }
    EXPECT_GE(held.size(), kLeasesOut);
    for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(images_of(*held[i]), images[i]);
    EXPECT_TRUE(threads_fall_to(before));
  }
}

TEST_F(Stopping, LeavesCountersReadableThatOnlyEverGrew) {
  for (const spec::PipelineSpec& pipeline : lists()) {
    const auto running = start(pipeline, setting_);
    std::uint64_t delivered = 0;
    bool shrank = false;
    std::jthread reader([&](const std::stop_token& enough) {
      while (!enough.stop_requested()) {
        const std::uint64_t now = running->counters().back().elements_out;
        shrank = shrank || now < delivered;
        delivered = now;
      }
    });
    drain(*running, 20);
    running->stop();
    EXPECT_FALSE(running->next());
    reader.request_stop();
    reader.join();
    EXPECT_FALSE(shrank);
    EXPECT_EQ(running->counters().back().elements_out, 20u);
  }
}

TEST_F(Stopping, ByAnErrorEndsThreadsThatHadGoneAhead) {
  std::filesystem::resize_file(set_.of(DataFormat::tfrecord).shards[2], 30);
  for (const spec::PipelineSpec& pipeline : lists()) {
    const std::size_t before = thread_count();
    {
      const auto running = start(pipeline, setting_);
      EXPECT_THROW(drain(*running), DataError) << pipeline.ops[2].op;
      EXPECT_FALSE(running->next());
    }
    EXPECT_TRUE(threads_fall_to(before));
  }
}

}  // namespace
}  // namespace chexbench::pipeline::test

// One suite of tests for all named pipelines and formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/errors.hpp"
#include "formats/tar.hpp"
#include "pipeline/harness.hpp"
#include "pipeline/tiny_set.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;
using testing::Each;
using testing::HasSubstr;

constexpr std::size_t kImages = 24;

class EveryPipeline : public testing::TestWithParam<std::tuple<std::string, DataFormat>> {
 protected:
  const std::string& name() const { return std::get<0>(GetParam()); }
  DataFormat format() const { return std::get<1>(GetParam()); }
  spec::PipelineSpec pipeline(int epochs) const { return finite_preset(name(), epochs); }
  const dataset::Dataset& dataset() const { return xrays(format()); }

  // Returns the shipped X-rays with damaged pixel data in one image, in the middle of the set.
  dataset::Dataset damaged(const TempFolder& folder) const {
    dataset::Dataset copy = copy_xrays(folder, DataFormat::images);
    const std::string& path = copy.images[kBadImage].path;
    const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(middle);
    file.write("damaged", 7);
    file.close();
    return format() == DataFormat::images ? copy : converted(folder, format());
  }
  static constexpr std::uint32_t kBadImage = 11;
};

TEST_P(EveryPipeline, DeliversTheTensorsOfTheDecoderOncePerEpoch) {
  const Setting setting{.deliver = format() == DataFormat::cached ? Deliver::u8 : Deliver::f32};
  std::vector<Delivered> expected = reference(setting, 0);
  std::ranges::copy(reference(setting, 1), std::back_inserter(expected));
  EXPECT_EQ(sorted(run(dataset(), pipeline(2), setting)), expected);
}

TEST_P(EveryPipeline, RepeatsItsOrderForTheSameSeedWhateverTheThreads) {
  const auto first = run(dataset(), pipeline(2), {.threads = 1});
  for (const std::size_t threads : {2u, 4u, 2u}) {
    EXPECT_EQ(run(dataset(), pipeline(2), {.threads = threads}), first) << threads << " threads";
  }
}

TEST_P(EveryPipeline, ChangesItsOrderWithSeedAndEpoch) {
  const auto first = run(dataset(), pipeline(2), {.seed = 1});
  const auto other = run(dataset(), pipeline(2), {.seed = 2});
  EXPECT_NE(order(first), order(other));
  const std::vector<std::uint32_t> all = order(first);
  EXPECT_NE(std::vector(all.begin(), all.begin() + kImages), std::vector(all.begin() + kImages, all.end()));
}

TEST_P(EveryPipeline, SharesTheImagesOutOverRanks) {
  std::vector<Delivered> together;
  for (int rank = 0; rank < 3; ++rank) {
    const auto part = run(dataset(), pipeline(1), {.batch = 1, .rank = rank, .world = 3});
    EXPECT_LT(part.size(), kImages / 2);
    std::ranges::copy(part, std::back_inserter(together));
  }
  EXPECT_EQ(sorted(together), reference({}));
}

TEST_P(EveryPipeline, FlipsTheSameImagesAsEveryOther) {
  const auto flipped = sorted(run(dataset(), pipeline(2), {.flip = true}));
  const auto in_order = sorted(run(xrays(DataFormat::images), finite_preset("keras", 2), {.threads = 1, .flip = true}));
  EXPECT_EQ(flipped, in_order);
  const auto straight = reference({});
  int changed = 0;
  for (std::size_t i = 0; i < kImages; ++i) changed += flipped[i].hash != straight[i].hash ? 1 : 0;
  EXPECT_GT(changed, 3);
  EXPECT_LT(changed, 21);
}

TEST_P(EveryPipeline, StopsAtAnyMomentWithoutLeavingAThread) {
  const spec::PipelineSpec endless = spec::preset(name());
  run(dataset(), endless, {}, 1);  // starts the threads that the process starts only once
  const std::size_t before = thread_count();
  for (const int milliseconds : {0, 1, 3, 10, 30}) {
    const auto running = make_pipeline(context_of(dataset(), endless, {}));
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      running->stop();
    });
    drain(*running);
    EXPECT_FALSE(running->next());
  }
  EXPECT_TRUE(threads_fall_to(before));
}

TEST_P(EveryPipeline, CanBeDestroyedWhileFullOrJustStarted) {
  const spec::PipelineSpec endless = spec::preset(name());
  run(dataset(), endless, {}, 1);
  const std::size_t before = thread_count();
  for (const std::size_t batches : {0u, 1u, 7u}) run(dataset(), endless, {}, batches);
  BatchLease out_lives;
  {
    const auto running = make_pipeline(context_of(dataset(), endless, {}));
    out_lives = running->next();
  }
  EXPECT_EQ(images_of(*out_lives).size(), 4u);
  EXPECT_TRUE(threads_fall_to(before));
}

TEST_P(EveryPipeline, StopsAtOnceAmidAPlantedDelay) {
  for (std::size_t slow = 0; slow < spec::preset(name()).ops.size(); ++slow) {
    spec::PipelineSpec pipeline = spec::preset(name());
    pipeline.ops[slow].parameters.at("delay_s") = 3600.0;
    const auto running = make_pipeline(context_of(dataset(), pipeline, {}));
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      running->stop();
    });
    EXPECT_FALSE(running->next()) << pipeline.ops[slow].op;
  }
}

TEST_P(EveryPipeline, NamesTheBadRecordAndEnds) {
  const TempFolder folder;
  const dataset::Dataset dataset = damaged(folder);
  const auto pipeline = finite_preset(name(), 3);
  const auto running = make_pipeline(context_of(dataset, pipeline, {}));
  try {
    drain(*running);
    FAIL() << "the damage went unnoticed";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr(dataset.images[kBadImage].name));
  }
  EXPECT_FALSE(running->next());
}

TEST_P(EveryPipeline, SkipsAndCountsBadRecordsAndKeepsBatchesFull) {
  const TempFolder folder;
  const dataset::Dataset dataset = damaged(folder);
  const auto pipeline = finite_preset(name(), 4);
  const Setting setting{.on_bad_record = spec::OnBadRecord::skip};
  const auto running = make_pipeline(context_of(dataset, pipeline, setting));
  std::vector<Delivered> images;
  while (const BatchLease batch = running->next()) {
    EXPECT_EQ(batch->valid, 4);
    std::ranges::copy(images_of(*batch), std::back_inserter(images));
  }
  // A loader that drains at the end of an epoch drops the images that do not fill a batch.
  const bool drains = pipeline.ops.back().op == "repeat";
  EXPECT_EQ(images.size(), 4 * (drains ? (kImages - 1) / 4 * 4 : kImages - 1));
  EXPECT_THAT(order(images), Each(testing::Ne(kBadImage)));
  std::uint64_t skipped = 0;
  for (const auto& one : running->counters()) skipped += one.bad_records;
  EXPECT_EQ(skipped, 4u);
  EXPECT_EQ(run(dataset, pipeline, {.threads = 4, .on_bad_record = spec::OnBadRecord::skip}), images);
}

TEST_P(EveryPipeline, BooksAPlantedDelayToItsOp) {
  for (const char* slow : {"list_files", "shuffle"}) {
    spec::PipelineSpec pipeline = finite_preset(name(), 1);
    set(pipeline, slow, "delay_s", 0.002);
    const auto running = make_pipeline(context_of(dataset(), pipeline, {}));
    drain(*running);
    for (const auto& one : running->counters()) {
      if (one.op == slow) {
        EXPECT_GE(one.busy_wall_s, 0.002 * static_cast<double>(one.elements_out)) << slow;
      }
      if (one.op == slow) {
        EXPECT_LT(one.busy_cpu_s, one.busy_wall_s) << slow;
      }
    }
  }
}

TEST_P(EveryPipeline, CountsWhatItDid) {
  const auto pipeline = finite_preset(name(), 2);
  const auto running = make_pipeline(context_of(dataset(), pipeline, {}));
  EXPECT_EQ(drain(*running).size(), 2 * kImages);
  const auto counters = running->counters();
  ASSERT_EQ(counters.size(), pipeline.ops.size());
  std::uint64_t decoded = 0;
  std::uint64_t read = 0;
  double parts_s = 0;
  double busy_s = 0;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    EXPECT_EQ(counters[i].op, pipeline.ops[i].op);
    EXPECT_EQ(counters[i].images_held, 0u) << counters[i].op;
    EXPECT_EQ(counters[i].bytes_held, 0u) << counters[i].op;
    EXPECT_EQ(counters[i].queue_depth, 0u) << counters[i].op;
    decoded += counters[i].images_decoded;
    read += counters[i].bytes_read;
    parts_s += counters[i].read_s + counters[i].parse_s + counters[i].decode_s + counters[i].resize_s;
    busy_s += counters[i].busy_wall_s;
  }
  EXPECT_EQ(decoded, 2 * kImages);
  EXPECT_EQ(counters.back().elements_out, 2 * kImages / 4);
  const std::size_t end_marks =
      format() == DataFormat::webdataset ? dataset().shards.size() * formats::kTarEndBytes : 0;
  EXPECT_EQ(read, 2 * (dataset().total_bytes - end_marks));
  EXPECT_GT(parts_s, 0);
  // A worker may not have booked its current image yet, which is one of about a dozen. The constant is for slow
  // machines.
  EXPECT_LE(parts_s, 1.25 * busy_s + 0.1);
}

TEST_P(EveryPipeline, HoldsNoMoreImagesThanItDecodedAndDidNotDeliver) {
  const spec::PipelineSpec endless = spec::preset(name());
  const auto running = make_pipeline(context_of(dataset(), endless, {}));
  drain(*running, 5);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  running->stop();
  std::uint64_t decoded = 0;
  std::uint64_t held = 0;
  for (const auto& one : running->counters()) {
    held += one.images_held;
    decoded += one.images_decoded;
  }
  EXPECT_GE(decoded, 20u);
  EXPECT_LE(held, decoded - 20 + 2);  // two workers may have updated only one of the two counters
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryPipeline,
                         testing::Combine(testing::ValuesIn(spec::preset_names().begin(), spec::preset_names().end()),
                                          testing::Values(DataFormat::images, DataFormat::tfrecord,
                                                          DataFormat::webdataset, DataFormat::cached)),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param)) + "_" + spec::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace chexbench::pipeline::test

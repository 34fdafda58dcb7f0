#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pipeline/harness.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;
using testing::ElementsAre;

const spec::ParameterValue kAuto = std::string("auto");

spec::PipelineSpec auto_list() {
  return list({op("list_files"), op("shuffle", {{"buffer", std::string("all")}}),
               op("interleave", {{"cycle_length", kAuto}}), op("map", {{"parallel_calls", kAuto}}), op("batch")});
}

// A store that only needs to be distant.
class DistantStore final : public storage::Store {
 public:
  std::vector<storage::StoreEntry> list(const std::string&) const override { return {}; }
  std::optional<std::uint64_t> size(const std::string&) const override { return {}; }
  std::span<const std::byte> read(const std::string&, storage::ByteBuffer&) const override { return {}; }
  std::unique_ptr<storage::ByteStream> stream(const std::string&, std::stop_token) const override { return nullptr; }
  bool is_local() const override { return false; }
};

TEST(Tunable, IsEachParameterThatIsAutoInTheOrderOfTheList) {
  const spec::PipelineSpec pipeline = auto_list();
  const auto found = tunables(context_of(xrays(DataFormat::tfrecord), pipeline, {.threads = 5}));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].op, "interleave");
  EXPECT_EQ(found[0].op_index, 2u);
  EXPECT_EQ(found[0].start, 10);
  EXPECT_THAT(found[0].values, ElementsAre(1, 10, 20)) << "16 shards: more cannot be open";
  EXPECT_EQ(found[1].parameter, "parallel_calls");
  EXPECT_EQ(found[1].start, 10) << "twice the rank's cores";
  EXPECT_THAT(found[1].values, ElementsAre(1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64));
}

TEST(Tunable, IsNoneWhereNumbersAreStated) {
  const auto pipeline = list({op("list_files"), op("interleave"), op("map"), op("batch")});
  EXPECT_TRUE(tunables(context_of(xrays(DataFormat::tfrecord), pipeline, {})).empty());
}

TEST(Tunable, HasNothingToChooseWhereInterleaveReadsNothing) {
  const spec::PipelineSpec pipeline = auto_list();
  const auto found = tunables(context_of(xrays(DataFormat::images), pipeline, {}));
  EXPECT_THAT(found[0].values, ElementsAre(10));
  EXPECT_FALSE(found[0].why_fixed.empty());
}

TEST(Tunable, CountsTheFilesOfARankBehindAShard) {
  const auto pipeline =
      list({op("list_files"), op("shard"), op("interleave", {{"cycle_length", kAuto}}), op("map_and_batch")});
  const auto found = tunables(context_of(xrays(DataFormat::tfrecord), pipeline, {.world = 2}));
  EXPECT_THAT(found[0].values, ElementsAre(1, 10)) << "8 of 16 shards are all open with 10";
}

TEST(Tunable, OpensTheFilesOfTheNextEpochsBehindARepeat) {
  const auto values_of = [](const spec::ParameterValue& epochs) {
    const auto pipeline = list({op("list_files"), op("repeat", {{"epochs", epochs}}),
                                op("interleave", {{"cycle_length", kAuto}}), op("map"), op("batch")});
    return tunables(context_of(xrays(DataFormat::tfrecord), pipeline, {})).front().values;
  };
  EXPECT_THAT(values_of(std::int64_t{2}), ElementsAre(1, 10, 20, 40)) << "2 times 16 shards";
  EXPECT_THAT(values_of(std::string("forever")), ElementsAre(1, 10, 20, 40, 80, 160));
}

// A window that measures a value must not count these as speed.
TEST(Tunable, SaysHowManyImagesAreReadAhead) {
  const spec::PipelineSpec pipeline = auto_list();
  const dataset::Dataset& shards = xrays(DataFormat::tfrecord);
  const PipelineContext context = context_of(shards, pipeline, {});
  const auto found = tunables(context);
  const double of_shard = std::min(4.0, static_cast<double>(shards.images.size()) / 16);
  EXPECT_EQ(images_read_ahead(context, found[0], 10), std::llround(11 * of_shard)) << "views: only what is queued";
  EXPECT_EQ(images_read_ahead(context, found[1], 8), 0) << "map reads no files";

  dataset::Dataset distant = shards;
  distant.store = std::make_shared<DistantStore>();
  const PipelineContext far = context_of(distant, pipeline, {});
  EXPECT_EQ(images_read_ahead(far, found[0], 20), std::llround(21 * static_cast<double>(shards.images.size()) / 16))
      << "small shards arrive whole";
  distant.shard_bytes.assign(16, 1'000'000'000);
  const double record_bytes = 16e9 / static_cast<double>(shards.images.size());
  EXPECT_EQ(images_read_ahead(context_of(distant, pipeline, {}), found[0], 20),
            std::llround(
                21 * std::min(4 + 3 * 4 * 1024 * 1024 / record_bytes, static_cast<double>(shards.images.size()) / 16)));
}

class TunedValue : public testing::TestWithParam<DataFormat> {};

TEST_P(TunedValue, ChangesNeitherTheOrderNorTheTensors) {
  spec::PipelineSpec stated = auto_list();
  set(stated, "interleave", "cycle_length", std::int64_t{10});
  set(stated, "map", "parallel_calls", std::int64_t{1});
  const dataset::Dataset& dataset = xrays(GetParam());
  const std::vector<Delivered> expected = run(dataset, stated, {});
  ASSERT_EQ(expected.size(), 24u);
  const spec::PipelineSpec pipeline = auto_list();
  PipelineContext context = context_of(dataset, pipeline, {});
  EXPECT_EQ(drain(*make_pipeline(context)), expected) << "as long as nothing was measured";
  for (const std::int64_t files : {1, 10, 20, 160}) {
    for (const std::int64_t calls : {1, 3, 64}) {
      context.tuned = {{2, files}, {3, calls}};
      EXPECT_EQ(drain(*make_pipeline(context)), expected) << files << " files, " << calls << " calls";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, TunedValue,
                         testing::Values(DataFormat::images, DataFormat::tfrecord, DataFormat::cached));

struct Decoders {
  DataFormat format;
  std::int64_t calls;
  std::string expected;
};

TEST(TunedCalls, HaveAThreadEachWhereMapReadsTheFilesAndMoreThanKeepTheCoresBusyWereFound) {
  const spec::PipelineSpec pipeline = auto_list();
  for (const auto& [format, calls, expected] :
       {Decoders{DataFormat::images, 8, "8 decoders"}, Decoders{DataFormat::images, 4, "2 decoders"},
        Decoders{DataFormat::tfrecord, 8, "2 decoders"}}) {
    PipelineContext context = context_of(xrays(format), pipeline, {.threads = 2});
    context.tuned = {{3, calls}};
    const MemoryForecast forecast = forecast_memory(context);
    EXPECT_TRUE(std::ranges::any_of(
        forecast.lines,
        [&](const MemoryForecast::Line& line) { return line.op == "map" && line.what.starts_with(expected); }))
        << calls << " calls: " << expected;
  }
}

}  // namespace
}  // namespace chexbench::pipeline::test

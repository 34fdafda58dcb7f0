// Tests custom pipelines on damaged files and shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "formats/record.hpp"
#include "formats/tf_example.hpp"
#include "pipeline/harness.hpp"
#include "storage/store.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;
using testing::HasSubstr;

// Applies a kind of damage to a PNG file.
enum class Damage { truncated, empty, missing, not_a_png };

class BadPng : public testing::TestWithParam<Damage> {
 protected:
  static constexpr std::uint32_t kBad = 7;

  dataset::Dataset damaged() const {
    dataset::Dataset dataset = copy_xrays(folder_, DataFormat::images);
    const std::string& path = dataset.images[kBad].path;
    switch (GetParam()) {
      case Damage::truncated:
        std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
        break;
      case Damage::empty:
        std::filesystem::resize_file(path, 0);
        break;
      case Damage::missing:
        std::filesystem::remove(path);
        break;
      case Damage::not_a_png:
        std::ofstream(path) << "This is no image.";
        break;
    }
    return dataset;
  }

  const TempFolder folder_;
  const spec::PipelineSpec pipeline_ = list({op("list_files"), op("interleave"), op("map_and_batch")});
};

TEST_P(BadPng, IsNamedWhereItStops) {
  const dataset::Dataset dataset = damaged();
  try {
    run(dataset, pipeline_, {});
    FAIL() << "the damage went unnoticed";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr(dataset.images[kBad].name));
  }
}

TEST_P(BadPng, ComesBehindTheBatchesBeforeIt) {
  const dataset::Dataset dataset = damaged();
  const auto running = make_pipeline(context_of(dataset, pipeline_, {}));
  EXPECT_EQ(order(drain(*running, 1)), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_THROW(running->next(), DataError);
}

TEST_P(BadPng, IsSkippedByEveryOpThatDecodes) {
  const dataset::Dataset dataset = damaged();
  const std::vector<spec::PipelineSpec> pipelines = {
      list({op("list_files"), op("read"), op("map"), op("batch")}),
      list({op("list_files"), op("read"), op("map", {{"parallel_calls", std::int64_t{4}}}), op("batch")}),
      list({op("list_files"), op("read"), op("map_and_batch", {{"parallel_batches", std::int64_t{1}}})}),
      list({op("list_files"), op("read"), op("cache"), op("map"), op("batch")}),
      list({op("list_files"), op("worker_batches", {{"num_workers", std::int64_t{3}}})}),
  };
  for (const spec::PipelineSpec& pipeline : pipelines) {
    const auto images = run(dataset, pipeline, {.batch = 1, .on_bad_record = spec::OnBadRecord::skip});
    std::vector<Delivered> expected = reference({});
    expected.erase(expected.begin() + kBad);
    EXPECT_EQ(sorted(images), expected) << pipeline.ops[1].op << " " << pipeline.ops.back().op;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BadPng,
                         testing::Values(Damage::truncated, Damage::empty, Damage::missing, Damage::not_a_png));

// A damaged shard, read by each op that opens shards.
class BadShard : public testing::TestWithParam<std::tuple<std::string, DataFormat>> {
 protected:
  spec::PipelineSpec pipeline() const {
    const std::string& reader = std::get<0>(GetParam());
    if (reader == "worker_batches") return list({op("list_files"), op("worker_batches")});
    if (reader == "read") return list({op("list_files"), op("read"), op("map_and_batch")});
    return list({op("list_files"), op("interleave", {{"parallel", reader == "parallel"}}), op("map_and_batch")});
  }
  // Damages the first shard: truncates it within its last record, or changes bytes of its first record.
  dataset::Dataset damaged(bool cut) const {
    dataset::Dataset dataset = copy_xrays(folder_, std::get<1>(GetParam()));
    const std::string& path = dataset.shards[0];
    if (cut) {
      std::filesystem::resize_file(path, std::filesystem::file_size(path) - 100 - kEndBytes);
    } else {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 4));  // of two records
      file.write("damaged", 7);
    }
    return dataset;
  }
  static constexpr std::size_t kEndBytes = 1600;  // more than the padding and the end mark of a tar file
  const TempFolder folder_;
};

TEST_P(BadShard, IsNamedWithTheOffset) {
  for (const bool cut : {false, true}) {
    const dataset::Dataset dataset = damaged(cut);
    try {
      run(dataset, pipeline(), {.batch = 1});
      FAIL() << "the damage went unnoticed";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr(dataset.shards[0]));
    }
    std::filesystem::remove_all(folder_.path() + "/nih");
  }
}

TEST_P(BadShard, LosesOneRecordWhereBadOnesAreSkipped) {
  for (const bool cut : {false, true}) {
    const dataset::Dataset dataset = damaged(cut);
    const spec::PipelineSpec spec = pipeline();
    const auto running =
        make_pipeline(context_of(dataset, spec, {.batch = 1, .on_bad_record = spec::OnBadRecord::skip}));
    EXPECT_EQ(drain(*running).size(), 23u);
    std::uint64_t bad = 0;
    for (const auto& one : running->counters()) bad += one.bad_records;
    EXPECT_EQ(bad, 1u);
    std::filesystem::remove_all(folder_.path() + "/nih");
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, BadShard,
                         testing::Combine(testing::Values("read", "sequential", "parallel", "worker_batches"),
                                          testing::Values(DataFormat::tfrecord, DataFormat::webdataset)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + spec::to_string(std::get<1>(test.param));
                         });

// One bit of a record in the middle of a shard is flipped. The op that decodes or keeps the record notices it.
class BadChecksum : public testing::Test {
 protected:
  BadChecksum() {
    const std::string& path = dataset_.shards[0];
    const auto reader = open();
    const std::uint64_t first = reader->next()->offset, second = reader->next()->offset;
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(second + (second - first) / 2));
    const auto byte = static_cast<char>(file.peek() ^ 1);
    file.write(&byte, 1);
  }
  std::unique_ptr<formats::ShardReader> open() const {
    return formats::open_shard(DataFormat::tfrecord, storage::local_store()->stream(dataset_.shards[0], {}));
  }
  std::string told_by_the_reader() const {
    const auto reader = open();
    reader->next();
    return message_of<DataError>([&] { reader->next(); });
  }
  static std::vector<spec::PipelineSpec> pipelines() {
    const spec::OpSpec files = op("list_files");
    return {
        list({files, op("read"), op("map"), op("batch")}),
        list({files, op("read"), op("map", {{"parallel_calls", std::int64_t{4}}}), op("batch")}),
        list({files, op("interleave"), op("map_and_batch")}),
        list({files, op("interleave", {{"parallel", true}}), op("shuffle"), op("map_and_batch")}),
        list({files, op("worker_batches")}),
        list({files, op("read"), op("cache"), op("map"), op("batch")}),
        list({files, op("read"), op("map"), op("cache", {{"max_bytes", std::int64_t{5000}}}), op("batch")}),
    };
  }
  const TempFolder folder_;
  dataset::Dataset dataset_ = copy_xrays(folder_, DataFormat::tfrecord);
};

TEST_F(BadChecksum, IsToldInTheWordsOfTheReader) {
  const std::string told = told_by_the_reader();
  EXPECT_THAT(told, HasSubstr("the CRC of its data is wrong"));
  for (const spec::PipelineSpec& pipeline : pipelines()) {
    EXPECT_EQ(message_of<DataError>([&] { run(dataset_, pipeline, {.batch = 1}); }), told)
        << pipeline.ops[1].op << " " << pipeline.ops[2].op;
  }
}

TEST_F(BadChecksum, CostsOneRecordAnEpochWhereBadOnesAreSkipped) {
  for (spec::PipelineSpec pipeline : pipelines()) {
    pipeline.ops.push_back(op("repeat", {{"epochs", std::int64_t{2}}}));
    const auto images = run(dataset_, pipeline, {.batch = 1, .on_bad_record = spec::OnBadRecord::skip});
    EXPECT_EQ(images.size(), 2 * 23u) << pipeline.ops[1].op << " " << pipeline.ops[2].op;
  }
}

// The damage may be in the very name by which a reader of a part of a set leaves records out.
TEST_F(BadChecksum, IsNoticedInARecordThatIsLeftOut) {
  dataset_.partial = true;
  const auto reader = formats::open_shard(DataFormat::tfrecord, storage::local_store()->stream(dataset_.shards[0], {}),
                                          formats::DataCheck::later);
  reader->next();
  const formats::ShardRecord damaged = reader->next().value();
  const std::string_view name = formats::parse_example(damaged.data, {}, dataset_.label_names.size()).filename;
  std::erase_if(dataset_.images, [&](const dataset::ImageEntry& image) { return image.name == name; });
  ASSERT_EQ(dataset_.images.size(), 23u);
  const auto pipeline = list({op("list_files"), op("interleave", {{"parallel", true}}), op("map_and_batch")});
  EXPECT_EQ(message_of<DataError>([&] { run(dataset_, pipeline, {.batch = 1}); }), told_by_the_reader());
}

// Nothing can be read, and repeat comes before the op that would notice it.
class NothingReadable : public testing::TestWithParam<std::string> {
 protected:
  spec::PipelineSpec endless() const {
    const spec::OpSpec repeat = op("repeat", {{"epochs", std::string("forever")}});
    if (GetParam() == "worker_batches") return list({op("list_files"), repeat, op("worker_batches")});
    if (GetParam() == "map_and_batch") return list({op("list_files"), op("read"), repeat, op("map_and_batch")});
    const std::int64_t calls = GetParam() == "map" ? 1 : 4;
    return list({op("list_files"), op("read"), repeat, op("map", {{"parallel_calls", calls}}), op("batch")});
  }
  static std::string failure(const dataset::Dataset& dataset, const spec::PipelineSpec& pipeline) {
    return message_of<DataError>(
        [&] { run(dataset, pipeline, {.batch = 1, .on_bad_record = spec::OnBadRecord::skip}, 1); });
  }
  const TempFolder folder_;
};

TEST_P(NothingReadable, EndsAnEndlessPipeline) {
  const dataset::Dataset dataset = copy_xrays(folder_, DataFormat::images);
  for (const dataset::ImageEntry& image : dataset.images) std::filesystem::resize_file(image.path, 0);
  // Counts two epochs, and the records that other workers have read meanwhile.
  EXPECT_THAT(failure(dataset, endless()),
              testing::AllOf(testing::StartsWith("none of the 24 images of split 'all' of /data/nih can be read: "),
                             testing::ContainsRegex("[a-z_]+ .pipeline.[0-9]. of 'test'. met (4[89]|[5-9][0-9]) bad "
                                                    "records in a row on rank 0; `chexbench data check /data/nih`"),
                             HasSubstr(".png")));
}

TEST_F(NothingReadable, IsToldWhereARepeatNoticesIt) {
  const dataset::Dataset dataset = copy_xrays(folder_, DataFormat::images);
  for (const dataset::ImageEntry& image : dataset.images) std::filesystem::resize_file(image.path, 0);
  const auto pipeline = list({op("list_files"), op("read"), op("map_and_batch"), op("repeat")});
  EXPECT_EQ(failure(dataset, pipeline),
            "a whole epoch of the 24 images of split 'all' of /data/nih gave rank 0 nothing to repeat (pipeline[3] of "
            "'test'): 24 records could not be read so far; `chexbench data check /data/nih` says what is wrong with "
            "them");
}

TEST(TooFewImages, AreToldWhereARepeatNoticesThem) {
  const auto pipeline = list({op("list_files"), op("read"), op("map_and_batch"), op("repeat")});
  EXPECT_THAT(message_of<DataError>([&] { run(xrays(DataFormat::images), pipeline, {.batch = 25}); }),
              testing::AllOf(HasSubstr("(pipeline[3] of 'test'): it has fewer images than one batch; use a smaller "),
                             testing::Not(HasSubstr("data check"))));
}

INSTANTIATE_TEST_SUITE_P(Decoders, NothingReadable,
                         testing::Values("map", "parallel_map", "map_and_batch", "worker_batches"),
                         [](const auto& test) { return test.param; });

TEST_F(NothingReadable, EndsAPipelineWhoseShardsAreAllDamaged) {
  const dataset::Dataset dataset = copy_xrays(folder_, DataFormat::tfrecord);
  for (const std::string& shard : dataset.shards) std::ofstream(shard) << "This is no shard.";
  const spec::OpSpec repeat = op("repeat", {{"epochs", std::string("forever")}});
  for (const bool parallel : {false, true}) {
    const auto pipeline =
        list({op("list_files"), repeat, op("interleave", {{"parallel", parallel}}), op("map_and_batch")});
    EXPECT_THAT(failure(dataset, pipeline), HasSubstr("bad records in a row"));
  }
}

TEST(EmptiedShard, IsNoShardWithoutRecords) {
  const TempFolder folder;
  const dataset::Dataset dataset = copy_xrays(folder, DataFormat::tfrecord);
  std::filesystem::resize_file(dataset.shards[0], 0);
  const auto pipeline = list({op("list_files"), op("read"), op("map_and_batch")});
  EXPECT_THAT(message_of<DataError>([&] { run(dataset, pipeline, {.batch = 1}); }),
              testing::AllOf(HasSubstr(dataset.shards[0]), HasSubstr("has 0 now")));
}

TEST_F(NothingReadable, IsNotSaidWhereOneImageIs) {
  const dataset::Dataset dataset = copy_xrays(folder_, DataFormat::images);
  for (std::size_t i = 1; i < dataset.images.size(); ++i) std::filesystem::resize_file(dataset.images[i].path, 0);
  const auto pipeline = list({op("list_files"), op("shuffle", {{"buffer", std::int64_t{24}}}), op("read"),
                              op("repeat", {{"epochs", std::int64_t{20}}}), op("map_and_batch")});
  EXPECT_EQ(run(dataset, pipeline, {.batch = 1, .on_bad_record = spec::OnBadRecord::skip}).size(), 20u);
}

TEST(DamagedImage, InAShardIsNamedWithShardAndOffset) {
  const TempFolder folder;
  dataset::Dataset dataset = copy_xrays(folder, DataFormat::tfrecord);
  std::vector<std::byte> record;
  const std::string& name = dataset.images.front().name;
  formats::write_example({.filename = name}, as_bytes("no image"), record);
  write_shard(dataset.shards[0], {{reinterpret_cast<const char*>(record.data()), record.size()}});
  const auto pipeline = list({op("list_files"), op("read"), op("map_and_batch")});
  EXPECT_THAT(message_of<DataError>([&] { run(dataset, pipeline, {.batch = 1}); }),
              testing::AllOf(HasSubstr(dataset.shards[0] + ", offset 0: "), HasSubstr(name)));
}

TEST(UnknownImage, InAShardIsNamed) {
  dataset::Dataset dataset = xrays(DataFormat::tfrecord);
  const std::string name = dataset.images.back().name;
  dataset.images.pop_back();
  const auto pipeline = list({op("list_files"), op("read"), op("map_and_batch")});
  try {
    run(dataset, pipeline, {});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr(name));
  }
}

}  // namespace
}  // namespace chexbench::pipeline::test

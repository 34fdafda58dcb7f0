// Tests conversions to shards: TFRecords, and WebDataset's tar files.
#include "dataset/make/convert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/conversions.hpp"
#include "dataset/dataset.hpp"
#include "dataset/index.hpp"
#include "formats/record.hpp"
#include "formats/shards.hpp"
#include "formats/tf_example.hpp"
#include "formats/tfrecord.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;
using spec::Split;
using testing::AllOf;
using testing::HasSubstr;

class ConvertTest : public CopiedXraysTest {
 protected:
  formats::Conversion convert(Split split = Split::all, int shards = 0, std::size_t threads = 2) {
    return convert_data_set(
        {.root = root_.path(), .split = split, .format = format_, .shards = shards, .threads = threads});
  }
  Dataset shards_of(Split split) { return open_dataset({.root = root_.path(), .format = format_, .split = split}); }
  std::map<std::string, std::string> contents_of_shards() { return contents_of(shards_of(Split::all).shards); }
  std::string image(const char* name) { return root_ / (std::string("images/") + name); }

  spec::DataFormat format_ = spec::DataFormat::tfrecord;
};

TEST_F(ConvertTest, ItsCostIsKnownAfterwardsIfItWasDoneAtOnce) {
  EXPECT_FALSE(conversion_cost(root_.path(), Split::all).has_value());
  const formats::Conversion conversion = convert();
  const auto cost = conversion_cost(root_.path(), Split::all);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->images, conversion.images);
  EXPECT_EQ(cost->shard_bytes, conversion.shard_bytes);
  EXPECT_NEAR(cost->seconds, conversion.seconds, 1e-3);
  convert();  // keeps the shards that are there
  EXPECT_FALSE(conversion_cost(root_.path(), Split::all).has_value());
}

TEST_F(ConvertTest, IsFoundToBeOlderThanAnImageThatChangesAfterwards) {
  constexpr auto kFormat = spec::DataFormat::tfrecord;
  EXPECT_FALSE(newer_images(root_.path(), Split::all, kFormat)) << "nothing is converted";
  convert();
  EXPECT_EQ(newer_images(root_.path(), Split::all, kFormat)->newer, 0u);
  fs::last_write_time(image("00000003_000.png"), fs::file_time_type::clock::now() + std::chrono::hours(1));
  const auto found = newer_images(root_.path(), Split::all, kFormat);
  EXPECT_EQ(found->newer, 1u);
  EXPECT_EQ(found->looked_at, shards_of(Split::all).images.size());
}

TEST_F(ConvertTest, PutsEveryImageIntoExactlyOneRecord) {
  convert();
  const Index index = read_index(root_.path());
  const Dataset dataset = shards_of(Split::all);
  std::set<std::string> seen;
  for (const std::string& path : dataset.shards) {
    formats::TfRecordReader reader(storage::MappedFile::open(path));
    while (const auto record = reader.next()) {
      const formats::ExampleView view = formats::parse_example(record->data);
      const auto found = find_image(dataset, view.filename);
      ASSERT_TRUE(found) << view.filename;
      EXPECT_TRUE(seen.insert(std::string(view.filename)).second) << view.filename;
      const IndexRow& row = index.rows[*found];
      EXPECT_EQ(view.labels, row.labels);
      EXPECT_EQ(view.patient, std::int64_t{row.patient});
      EXPECT_EQ(view.format, "png");
      EXPECT_EQ(view.height, 1024);
      EXPECT_EQ(view.width, 1024);
      EXPECT_EQ(view.channels, row.name == "00000004_000.png" ? 4 : 1);
      const std::string file = read_text(image(std::string(row.name).c_str()));
      ASSERT_EQ(view.encoded.size(), file.size());
      EXPECT_EQ(std::memcmp(view.encoded.data(), file.data(), file.size()), 0);
    }
  }
  EXPECT_EQ(seen.size(), 24u);
}

TEST_F(ConvertTest, WritesAtLeast16ShardsOfNearlyEqualCount) {
  const formats::Conversion conversion = convert();
  EXPECT_EQ(conversion.shards.size(), 16u);
  for (const formats::ShardFile& shard : conversion.shards) {
    EXPECT_TRUE(shard.records == 1 || shard.records == 2) << shard.name;
  }
  EXPECT_EQ(conversion.shards[3].name, "all-00003-of-00016");
}

TEST_F(ConvertTest, NeverMakesAShardWithoutRecords) {
  const formats::Conversion conversion = convert(Split::test);
  EXPECT_EQ(conversion.images, 6u);
  EXPECT_EQ(conversion.shards.size(), 6u);
}

TEST_F(ConvertTest, GivesTheSameBytesAtAnyNumberOfThreads) {
  for (const spec::DataFormat format : {spec::DataFormat::tfrecord, spec::DataFormat::webdataset}) {
    format_ = format;
    convert(Split::all, 0, 1);
    const auto first = contents_of_shards();
    fs::remove_all(root_ / spec::to_string(format));
    convert(Split::all, 0, 4);
    EXPECT_EQ(contents_of_shards(), first);
  }
}

TEST_F(ConvertTest, WritesAManifestWithCountsBytesAndSeconds) {
  const formats::Conversion conversion = convert(Split::train);
  const auto manifest = nlohmann::json::parse(read_text(formats::manifest_path(root_.path(), Split::train)));
  EXPECT_EQ(manifest["split"], "train");
  EXPECT_EQ(manifest["images"], 18);
  EXPECT_EQ(manifest["patients"], conversion.patients.value());
  EXPECT_EQ(manifest["shards"].size(), conversion.shards.size());
  EXPECT_EQ(manifest["damaged"].size(), 0u);
  std::uint64_t records = 0, bytes = 0;
  for (const auto& shard : manifest["shards"]) {
    records += shard["records"].get<std::uint64_t>();
    bytes += shard["bytes"].get<std::uint64_t>();
    EXPECT_EQ(fs::file_size(root_ / ("tfrecord/" + shard["name"].get<std::string>())), shard["bytes"]);
  }
  EXPECT_EQ(records, 18u);
  EXPECT_EQ(manifest["shard_bytes"], bytes);
  EXPECT_LT(manifest["image_bytes"], bytes);
  EXPECT_GT(manifest["seconds"], 0);
}

TEST_F(ConvertTest, KeepsFinishedShardsAndMakesTheOthers) {
  convert();
  const auto before = contents_of_shards();
  const std::string lost = shards_of(Split::all).shards[4];
  fs::remove(lost);
  const formats::Conversion again = convert();
  EXPECT_EQ(again.kept(), 15u);
  EXPECT_FALSE(again.shards[4].kept);
  EXPECT_EQ(contents_of_shards(), before);
}

TEST_F(ConvertTest, MakesADamagedShardAnew) {
  for (const spec::DataFormat format : {spec::DataFormat::tfrecord, spec::DataFormat::webdataset}) {
    format_ = format;
    convert();
    const auto before = contents_of_shards();
    fs::resize_file(shards_of(Split::all).shards[0], 1000);
    EXPECT_EQ(convert().kept(), 15u);
    EXPECT_EQ(contents_of_shards(), before);
    const auto& [path, contents] = *before.begin();
    std::string damaged = contents;
    // A tar file has no checksum of an image.
    damaged[format == spec::DataFormat::tfrecord ? damaged.size() / 2 : 600] ^= '?';
    write_text(path, damaged);
    EXPECT_EQ(convert().kept(), 15u);
    EXPECT_EQ(contents_of_shards(), before);
  }
}

TEST_F(ConvertTest, RemovesWhatAKilledConversionOfTheSplitLeft) {
  const std::string gone = std::to_string(ended_process());
  write_text(root_ / ("tfrecord/.all-00003-of-00016.tmp-" + gone), "half a shard");
  write_text(root_ / ("tfrecord/.all-manifest.json.tmp-" + gone), "half a manifest");
  write_text(root_ / ("tfrecord/.train-00003-of-00016.tmp-" + gone), "of another split");
  convert();
  EXPECT_FALSE(fs::exists(root_ / ("tfrecord/.all-00003-of-00016.tmp-" + gone)));
  EXPECT_FALSE(fs::exists(root_ / ("tfrecord/.all-manifest.json.tmp-" + gone)));
  EXPECT_TRUE(fs::exists(root_ / ("tfrecord/.train-00003-of-00016.tmp-" + gone)));
}

TEST_F(ConvertTest, MakesAShardAnewWhenAnImageChanged) {
  convert();
  fs::last_write_time(image("00000001_000.png"), fs::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_EQ(convert().kept(), 15u);
}

TEST_F(ConvertTest, MakesAShardAnewWhenALabelChanged) {
  convert();
  std::string table = read_text(root_ / "Data_Entry_2017.csv");
  table.replace(table.find("00000001_000.png,Cardiomegaly"), 29, "00000001_000.png,Hernia");
  write_text(root_ / "Data_Entry_2017.csv", table);
  EXPECT_EQ(convert().kept(), 15u);
}

TEST_F(ConvertTest, StoresADamagedImageAsItIsAndNamesIt) {
  write_text(image("00000001_000.png"), "");
  write_text(image("00000001_001.png"), "\xff\xd8\xff\xe0 a JPEG");
  const formats::Conversion conversion = convert();
  EXPECT_EQ(conversion.images, 24u);
  EXPECT_THAT(conversion.damaged, testing::ElementsAre("00000001_000.png", "00000001_001.png"));
}

TEST_F(ConvertTest, RefusesFewerThan16Shards) {
  EXPECT_THAT(message_of<SpecError>([&] { convert(Split::all, 15); }), HasSubstr("at least 16"));
}

TEST_F(ConvertTest, RefusesToMixTwoConversions) {
  convert(Split::all, 20);
  EXPECT_THAT(message_of<OutputError>([&] { convert(Split::all, 24); }),
              AllOf(HasSubstr("holds 20 shards"), HasSubstr("24")));
  EXPECT_EQ(convert(Split::all, 0).kept(), 20u);
}

TEST_F(ConvertTest, ReportsAFolderThatCannotBeMade) {
  write_text(root_ / "tfrecord", "a file where the folder should be");
  EXPECT_THAT(message_of<OutputError>([&] { convert(); }), HasSubstr(root_ / "tfrecord"));
}

TEST_F(ConvertTest, LeavesNoHalfShardWhenItFails) {
  fs::create_directories(root_ / "tfrecord/all-00000-of-00016/in the way");
  EXPECT_THROW(convert(), OutputError);
  for (const std::string& name : names_in(root_ / "tfrecord")) EXPECT_THAT(name, testing::StartsWith("all-"));
}

constexpr auto kWebDataset = spec::DataFormat::webdataset;

class ConvertToWebDataset : public CopiedXraysTest {
 protected:
  formats::Conversion convert(int shards = 0, std::size_t threads = 2) {
    return convert_data_set(
        {.root = root_.path(), .split = Split::all, .format = kWebDataset, .shards = shards, .threads = threads});
  }
  Dataset open() { return open_dataset({.root = root_.path(), .format = kWebDataset, .split = Split::all}); }
  std::string failure() {
    return message_of<DataError>([&] { open(); });
  }
  std::map<std::string, std::string> contents_of_shards() { return contents_of(open().shards); }
};

TEST_F(ConvertToWebDataset, PutsEveryImageIntoExactlyOneSample) {
  const formats::Conversion conversion = convert();
  EXPECT_EQ(conversion.shards[3].name, "all-000003.tar");
  const Dataset dataset = open();
  const Dataset png = open_dataset({.root = root_.path(), .split = Split::all});
  std::set<std::string> seen;
  for (const std::string& path : dataset.shards) {
    const auto reader = formats::open_shard(kWebDataset, storage::stream_mapped(storage::MappedFile::open(path)));
    while (const auto record = reader->next()) {
      const formats::RecordView view =
          formats::parse_record(kWebDataset, record->data, {.file = path, .offset = record->offset}, nih_label_names());
      const auto found = find_image(png, view.filename);
      ASSERT_TRUE(found) << view.filename;
      EXPECT_TRUE(seen.insert(view.filename).second) << view.filename;
      EXPECT_EQ(view.labels, png.images[*found].labels);
      EXPECT_EQ(view.patient, std::int64_t{png.images[*found].patient});
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(view.encoded.data()), view.encoded.size()),
                read_text(png.images[*found].path));
    }
  }
  EXPECT_EQ(seen.size(), 24u);
}

// The name is in the sample's JSON, which cannot store such a name: the sample could not be read.
TEST(ConvertNames, ThatAreNotUtf8FitTfRecordsButNotWebDataset) {
  const ScratchFolder root;
  const std::string xray = read_text(CHEXBENCH_TEST_DATA "/images/00000001_000.png");
  for (const char* name : {"cat/gr\xf6sse.png", "cat/b.png", "dog/c.png", "dog/d.png"}) write_text(root / name, xray);
  ConvertOptions options{.root = root.path(), .split = Split::all, .format = kWebDataset, .threads = 1};
  EXPECT_THAT(message_of<DataError>([&] { convert_data_set(options); }),
              AllOf(HasSubstr(R"(cat/gr\xf6sse.png: WebDataset cannot hold a name that is not UTF-8)"),
                    HasSubstr("rename the file, or use --to tfrecord")));
  options.format = spec::DataFormat::tfrecord;
  convert_data_set(options);
  const Dataset shards = open_dataset({.root = root.path(), .format = options.format, .split = Split::all});
  int found = 0;
  for (const std::string& path : shards.shards) {
    const auto reader = formats::open_shard(options.format, storage::stream_mapped(storage::MappedFile::open(path)));
    while (const auto record = reader->next()) {
      const auto view = formats::parse_record(options.format, record->data, {}, shards.label_names);
      found += find_image(shards, view.filename) ? 1 : 0;
    }
  }
  EXPECT_EQ(found, 4);
}

TEST_F(ConvertToWebDataset, KnowsItsCostBesideThatOfOtherFormats) {
  const formats::Conversion conversion = convert();
  EXPECT_EQ(conversion_cost(root_.path(), Split::all, kWebDataset)->shard_bytes, conversion.shard_bytes);
  EXPECT_FALSE(conversion_cost(root_.path(), Split::all));
}

// A killed conversion leaves some shards, and the file with their final number.
TEST_F(ConvertToWebDataset, ThatDidNotEndIsNoDataSetAndGoesOnWithTheShardsThatAreThere) {
  convert(20);
  const auto before = contents_of_shards();
  fs::remove(root_ / "webdataset/all-000019.tar");
  fs::remove(root_ / "webdataset/all-manifest.json");
  write_text(formats::unfinished_path(root_.path(), Split::all, kWebDataset), "20");
  EXPECT_THAT(failure(), AllOf(HasSubstr("is not complete"), HasSubstr("--split all --to webdataset")));
  const formats::Conversion again = convert();
  EXPECT_EQ(again.kept(), 19u);
  EXPECT_EQ(contents_of_shards(), before);
}

TEST_F(ConvertToWebDataset, WhoseLastOrAnyShardIsMissingIsRefused) {
  EXPECT_THAT(failure(), HasSubstr("no WebDataset shards of split 'all'"));
  convert();
  for (const std::string name : {"all-000015.tar", "all-000002.tar"}) {
    fs::rename(root_ / ("webdataset/" + name), root_ / "away");
    EXPECT_THAT(failure(), HasSubstr("shard " + name + " is missing"));
    fs::rename(root_ / "away", root_ / ("webdataset/" + name));
  }
  fs::remove(root_ / "webdataset/all-manifest.json");  // other programs write shards without one
  EXPECT_EQ(open().shards.size(), 16u);
}

TEST_F(ConvertToWebDataset, RefusesAnotherNumberOfShards) {
  convert();
  EXPECT_THAT(message_of<OutputError>([&] { convert(18); }), HasSubstr("already holds 16 shards of split 'all'"));
}

}  // namespace
}  // namespace chexbench::dataset

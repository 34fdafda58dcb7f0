#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/make/convert.hpp"
#include "dataset/shards_hint.hpp"
#include "formats/record.hpp"
#include "formats/shards.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;
using spec::Split;
using testing::AllOf;
using testing::HasSubstr;

constexpr auto kFormat = spec::DataFormat::webdataset;

class ConvertToWebDataset : public CopiedXraysTest {
 protected:
  formats::Conversion convert(int shards = 0, std::size_t threads = 2) {
    return convert_data_set(
        {.root = root_.path(), .split = Split::all, .format = kFormat, .shards = shards, .threads = threads});
  }
  Dataset open() { return open_dataset({.root = root_.path(), .format = kFormat, .split = Split::all}); }
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
    const auto reader = formats::open_shard(kFormat, storage::stream_mapped(storage::MappedFile::open(path)));
    while (const auto record = reader->next()) {
      const formats::RecordView view =
          formats::parse_record(kFormat, record->data, {.file = path, .offset = record->offset}, finding_names());
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
  ConvertOptions options{.root = root.path(), .split = Split::all, .format = kFormat, .threads = 1};
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

TEST_F(ConvertToWebDataset, GivesTheSameBytesAtAnyNumberOfThreads) {
  convert(0, 1);
  const auto first = contents_of_shards();
  fs::remove_all(root_ / "webdataset");
  convert(0, 4);
  EXPECT_EQ(contents_of_shards(), first);
}

TEST_F(ConvertToWebDataset, KnowsItsCostBesideThatOfOtherFormats) {
  const formats::Conversion conversion = convert();
  EXPECT_EQ(conversion_cost(root_.path(), Split::all, kFormat)->shard_bytes, conversion.shard_bytes);
  EXPECT_FALSE(conversion_cost(root_.path(), Split::all));
}

// A killed conversion leaves some shards, and the file with their final number.
TEST_F(ConvertToWebDataset, ThatDidNotEndIsNoDataSetAndGoesOnWithTheShardsThatAreThere) {
  convert(20);
  const auto before = contents_of_shards();
  fs::remove(root_ / "webdataset/all-000019.tar");
  fs::remove(root_ / "webdataset/all-manifest.json");
  write_text(formats::unfinished_path(root_.path(), Split::all, kFormat), "20");
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

TEST_F(ConvertToWebDataset, MakesADamagedShardAnew) {
  convert();
  const auto before = contents_of_shards();
  std::fstream(open().shards[5], std::ios::in | std::ios::out | std::ios::binary).seekp(600).put('?');
  EXPECT_EQ(convert().kept(), 15u);
  EXPECT_EQ(contents_of_shards(), before);
}

}  // namespace
}  // namespace chexbench::dataset

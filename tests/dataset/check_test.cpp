#include "dataset/make/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/make/convert.hpp"
#include "dataset/make/synth.hpp"
#include "formats/shards.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A synthetic set of 32 images and its shards.
class CheckTest : public testing::Test {
 protected:
  CheckTest() {
    write_synthetic_set({.directory = root(), .images = 32, .size = 64, .threads = 2});
    convert_data_set({.root = root(), .split = spec::Split::all, .threads = 2});
  }
  std::string root() { return folder_ / "set"; }
  std::string image(const std::string& name) { return folder_ / ("set/images/" + name); }
  std::string shard(int index) { return formats::shard_path(root(), spec::Split::all, index, 16); }
  std::vector<std::string> problems() { return check_data_set(root(), 2).problems; }
  static void flip(const std::string& path, std::size_t offset) {
    std::string contents = read_text(path);
    contents.at(offset) = static_cast<char>(contents.at(offset) ^ 1);
    write_text(path, contents);
  }
  ScratchFolder folder_;
};

TEST_F(CheckTest, FindsNothingWrongWithAWholeSet) {
  const CheckReport report = check_data_set(root(), 2);
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.images, 32u);
  EXPECT_EQ(report.records, 32u);
  EXPECT_GT(report.bytes, 32u * 1000);
}

TEST_F(CheckTest, FindsNothingWrongWithTheShippedXRays) {
  EXPECT_THAT(check_data_set(CHEXBENCH_TEST_DATA, 2).problems, IsEmpty());
}

TEST_F(CheckTest, NamesAnImageWithAFlippedByte) {
  flip(image("00000001_000.png"), 1000);
  EXPECT_THAT(problems(), ElementsAre(AllOf(HasSubstr("00000001_000.png"), HasSubstr("CRC"))));
}

TEST_F(CheckTest, NamesATruncatedAndAnEmptyImage) {
  fs::resize_file(image("00000001_000.png"), 500);
  write_text(image("00000002_000.png"), "");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("00000001_000.png"), HasSubstr("00000002_000.png")));
}

TEST_F(CheckTest, NamesARecordWithAFlippedByteAndTheImageThatIsLost) {
  flip(shard(3), 300);
  EXPECT_THAT(problems(), AllOf(Contains(AllOf(HasSubstr("all-00003-of-00016: record at offset 0"), HasSubstr("CRC"))),
                                Contains(HasSubstr("is in no readable record")), testing::SizeIs(2)));
}

TEST_F(CheckTest, NamesATruncatedShard) {
  fs::resize_file(shard(0), fs::file_size(shard(0)) - 1);
  EXPECT_THAT(problems(), Contains(AllOf(HasSubstr("all-00000-of-00016"), HasSubstr("truncated"))));
}

TEST_F(CheckTest, NamesAMissingShard) {
  fs::remove(shard(7));
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("all-00007-of-00016 is missing")));
}

TEST_F(CheckTest, HoldsTarFilesAgainstTheImagesToo) {
  convert_data_set({.root = root(), .split = spec::Split::all, .format = spec::DataFormat::webdataset, .threads = 2});
  const CheckReport whole = check_data_set(root(), 2);
  EXPECT_THAT(whole.problems, IsEmpty());
  EXPECT_EQ(whole.records, 64u);
  const std::string tar = folder_ / "set/webdataset/all-000004.tar";
  const std::string contents = read_text(tar);
  const std::size_t label = contents.find("\"label\": [") + 10;
  flip(tar, label);
  EXPECT_THAT(problems(),
              ElementsAre(AllOf(HasSubstr("all-000004.tar: record at offset 0"), HasSubstr("has the labels"))));
  write_text(tar, contents);
  flip(tar, contents.find("IDAT") + 50);
  EXPECT_THAT(problems(), ElementsAre(AllOf(HasSubstr("all-000004.tar: record at offset 0"), HasSubstr("CRC"))));
}

TEST_F(CheckTest, NamesARecordThatDiffersFromItsImage) {
  // Another image has taken the name; both files are undamaged.
  fs::copy_file(image("00000001_000.png"), image("00000002_000.png"), fs::copy_options::overwrite_existing);
  EXPECT_THAT(problems(),
              ElementsAre(AllOf(HasSubstr("image 00000002_000.png"), HasSubstr("gives a different tensor"))));
}

TEST_F(CheckTest, NamesARecordWithOtherLabelsThanTheTable) {
  std::string table = read_text(folder_ / "set/Data_Entry_2017.csv");
  const std::size_t row = table.find("00000001_000.png,") + 17;
  table.replace(row, table.find(',', row) - row, "Hernia|Edema|Mass");
  write_text(folder_ / "set/Data_Entry_2017.csv", table);
  EXPECT_THAT(problems(),
              ElementsAre(AllOf(HasSubstr("image 00000001_000.png"), HasSubstr("table says Mass|Edema|Hernia"))));
}

TEST_F(CheckTest, NamesAnImageThatComesTwice) {
  const std::string records = read_text(shard(5));
  write_text(shard(5), records + records);
  EXPECT_THAT(problems(), AllOf(testing::SizeIs(2), testing::Each(HasSubstr("is in more than one record"))));
}

TEST_F(CheckTest, DoesNotMindImagesWithoutAFile) {
  fs::remove_all(folder_ / "set/tfrecord");
  fs::remove(image("00000001_000.png"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST(CheckDataSet, RefusesARootThatIsNotThere) { EXPECT_THROW(check_data_set("/nowhere/set", 1), DataError); }

}  // namespace
}  // namespace chexbench::dataset

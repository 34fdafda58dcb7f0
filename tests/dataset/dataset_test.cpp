#include "dataset/dataset.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/image_files.hpp"
#include "formats/shards.hpp"

namespace chexbench::dataset {
namespace {

using spec::DataFormat;
using spec::Split;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class DatasetTest : public testing::Test {
 protected:
  DatasetTest() {
    write_table(root_,
                "b.png,Mass,0,7,10,M,PA,1,1,1,1,\n"
                "a.png,Hernia,0,8,20,F,PA,1,1,1,1,\n"
                "c.png,No Finding,0,9,30,F,PA,1,1,1,1,\n");
    write_text(root_ / "train_val_list.txt", "b.png\na.png\n");
    write_text(root_ / "test_list.txt", "c.png\n");
    for (const char* name : {"a.png", "b.png", "c.png"}) write_text(root_ / (std::string("images/") + name), "1234");
  }
  Dataset open(Split split, DataFormat format = DataFormat::images) {
    return open_dataset({.root = root_.path(), .format = format, .split = split});
  }
  void write_shards(int count, const std::string& split = "train") {
    for (int i = 0; i < count; ++i)
      write_text(root_ / fmt::format("tfrecord/{}-{:05}-of-{:05}", split, i, count), "123");
  }
  std::string failure_of(Split split, DataFormat format = DataFormat::images) {
    return message_of<DataError>([&] { open(split, format); });
  }
  ScratchFolder root_;
};

TEST_F(DatasetTest, ListsASplitInTheOrderOfNames) {
  const Dataset train = open(Split::train);
  ASSERT_EQ(train.images.size(), 2u);
  EXPECT_EQ(train.images[0].name, "a.png");
  EXPECT_EQ(train.images[0].path, root_ / "images/a.png");
  EXPECT_EQ(train.images[0].labels, 1 << 13);
  EXPECT_EQ(train.images[0].patient, 8u);
  EXPECT_EQ(train.images[1].name, "b.png");
  EXPECT_EQ(train.total_bytes, 8u);
  EXPECT_EQ(train.files(), 2u);
  EXPECT_EQ(open(Split::test).images.size(), 1u);
  EXPECT_EQ(open(Split::all).images.size(), 3u);
}

TEST_F(DatasetTest, LeavesOutImagesWithoutAFile) {
  std::filesystem::remove(root_ / "images/a.png");
  EXPECT_EQ(open(Split::train).images.size(), 1u);
}

TEST_F(DatasetTest, RefusesASplitWithoutAnyFile) {
  std::filesystem::remove(root_ / "images/c.png");
  EXPECT_THAT(failure_of(Split::test), AllOf(HasSubstr("split 'test'"), HasSubstr("is empty")));
}

TEST_F(DatasetTest, RefusesAnEmptySplit) {
  write_text(root_ / "test_list.txt", "");
  EXPECT_THAT(failure_of(Split::test), AllOf(HasSubstr("split 'test'"), HasSubstr("is empty")));
}

TEST_F(DatasetTest, NamesTheListThatIsNotThere) {
  std::filesystem::remove(root_ / "train_val_list.txt");
  EXPECT_THAT(failure_of(Split::train), AllOf(HasSubstr("no train_val_list.txt"), HasSubstr("\"all\"")));
  EXPECT_EQ(open(Split::all).images.size(), 3u);
}

TEST_F(DatasetTest, IsEmptyForReadyMadeBatchesAndNeedsNoRoot) {
  EXPECT_EQ(open_dataset({.root = "", .format = DataFormat::ready}).files(), 0u);
}

TEST_F(DatasetTest, ListsShardsInTheirOrder) {
  write_shards(17);
  write_shards(2, "test");
  write_text(root_ / "tfrecord/.train-00001-of-00017.tmp-1", "x");
  const Dataset train = open(Split::train, DataFormat::tfrecord);
  ASSERT_EQ(train.shards.size(), 17u);
  EXPECT_EQ(train.shards[16], root_ / "tfrecord/train-00016-of-00017");
  EXPECT_EQ(train.total_bytes, 17u * 3);
  EXPECT_EQ(train.images.size(), 2u);
  EXPECT_EQ(train.files(), 17u);
}

TEST_F(DatasetTest, GivesTheCommandThatMakesMissingShards) {
  EXPECT_THAT(failure_of(Split::test, DataFormat::tfrecord),
              HasSubstr("chexbench data convert " + root_.path() + " --split test"));
  write_shards(16);
  std::filesystem::remove(root_ / "tfrecord/train-00003-of-00016");
  EXPECT_THAT(failure_of(Split::train, DataFormat::tfrecord),
              AllOf(HasSubstr("train-00003-of-00016 is missing"), HasSubstr("data convert")));
}

// The message must not tell the user to convert, because the folder exists.
TEST_F(DatasetTest, TellsShardsThatMayNotBeRead) {
  write_shards(16);
  std::filesystem::permissions(root_.path(), std::filesystem::perms(0755));
  for (const auto mode : {std::filesystem::perms::none, std::filesystem::perms(0444)}) {  // no access; list only
    const WithMode locked(root_ / "tfrecord", mode);
    if (!locked.applies()) GTEST_SKIP() << "root cannot become another user here";
    EXPECT_THAT(failure_of(Split::train, DataFormat::tfrecord),
                AllOf(HasSubstr(root_ / "tfrecord"), HasSubstr("Permission denied"), Not(HasSubstr("data convert"))));
  }
}

TEST_F(DatasetTest, RefusesShardsOfTwoConversions) {
  write_shards(16);
  write_shards(32);
  EXPECT_THAT(failure_of(Split::train, DataFormat::tfrecord), HasSubstr("into 16 and 32 shards"));
}

TEST_F(DatasetTest, FindsAnImageByName) {
  const Dataset all = open(Split::all);
  EXPECT_EQ(find_image(all, "a.png"), 0u);
  EXPECT_EQ(find_image(all, "c.png"), 2u);
  EXPECT_FALSE(find_image(all, "bb.png"));
  EXPECT_FALSE(find_image(all, "zz.png"));
}

TEST(FindNihFiles, LooksIntoEveryPublishedLayout) {
  const ScratchFolder root;
  write_text(root / "images/d.png", "1");
  write_text(root / "images_001/c.png", "1");
  write_text(root / "images_012/images/b.png", "12");
  write_text(root / "other/a.png", "1");
  write_text(root / "images/readme.txt", "1");
  write_text(root / "images/.hidden.png", "1");
  NameArena arena;
  std::vector<std::string_view> names;
  for (const ImageFile& file : find_nih_files(root.path(), Index{}, arena, nullptr)) names.push_back(file.name);
  EXPECT_THAT(names, ElementsAre("b.png", "c.png", "d.png"));
}

TEST(FindNihFiles, ListsAFileInTwoFoldersOnce) {
  const ScratchFolder root;
  write_text(root / "images_001/a.png", "1");
  write_text(root / "images_002/a.png", "12");
  NameArena arena;
  const std::vector<ImageFile> files = find_nih_files(root.path(), Index{}, arena, nullptr);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path, root / "images_001/a.png");
}

}  // namespace
}  // namespace chexbench::dataset

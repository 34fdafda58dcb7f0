#include "dataset/make/stage.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/dataset.hpp"
#include "dataset/make/convert.hpp"
#include "dataset/make/synth.hpp"

namespace chexbench::dataset {
namespace {

using spec::DataFormat;
using spec::Split;
using testing::AllOf;
using testing::HasSubstr;

class StageTest : public testing::Test {
 protected:
  StageTest() {
    write_synthetic_set({.directory = root_ / "set", .images = 24, .size = 32, .threads = 1});
    options_.data.root = root_ / "set";
    options_.data.split = Split::all;
    options_.folder = root_ / "near";
  }
  Dataset open(const std::string& root) {
    spec::DataSpec spec = options_.data;
    spec.root = root;
    return open_dataset(spec);
  }
  // Expects every image or shard of the copy to equal the original, byte for byte.
  void expect_same_files() {
    const Dataset far = open(options_.data.root), near = open(options_.folder);
    ASSERT_EQ(near.files(), far.files());
    const bool shards = spec::reads_shards(far.format);
    for (std::size_t i = 0; i < far.files(); ++i) {
      const std::string& from = shards ? far.shards[i] : far.images[i].path;
      const std::string& to = shards ? near.shards[i] : near.images[i].path;
      EXPECT_EQ(read_text(to), read_text(from));
      EXPECT_NE(to, from);
    }
    for (std::size_t i = 0; i < far.images.size(); ++i) EXPECT_EQ(near.images[i].labels, far.images[i].labels);
  }

  ScratchFolder root_;
  StageOptions options_;
};

TEST_F(StageTest, CopiesLabelsListsAndImagesOfASplit) {
  options_.data.split = Split::test;
  const Staging staging = stage_data_set(options_);
  expect_same_files();
  EXPECT_EQ(staging.images, open(options_.folder).images.size());
  EXPECT_EQ(staging.files, staging.images + 3);
  EXPECT_EQ(staging.kept, 0u);
  EXPECT_LT(open(options_.folder).images.size(), 24u);
  EXPECT_GT(staging.seconds, 0);
}

TEST_F(StageTest, CopiesShardsWithoutImages) {
  for (const auto format : {DataFormat::tfrecord, DataFormat::webdataset}) {
    convert_data_set({.root = options_.data.root, .split = Split::all, .format = format, .threads = 1});
    options_.data.format = format;
    stage_data_set(options_);
    expect_same_files();
    EXPECT_FALSE(std::filesystem::exists(options_.folder + "/images"));
  }
}

TEST_F(StageTest, GoesOnWhereItWasStopped) {
  stage_data_set(options_);
  const std::vector<std::string> names = names_in(options_.folder + "/images");
  std::filesystem::remove(options_.folder + "/images/" + names[3]);
  std::filesystem::resize_file(options_.folder + "/images/" + names[5], 10);
  const std::string abandoned = fmt::format("{}/images/.{}.tmp-{}", options_.folder, names[3], ended_process());
  write_text(abandoned, "half");
  const Staging again = stage_data_set(options_);
  EXPECT_EQ(again.kept, again.files - 2);
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  expect_same_files();
}

TEST_F(StageTest, CopiesAgainWhatIsNewerThanItsCopy) {
  stage_data_set(options_);
  const std::string image = options_.data.root + "/images/" + names_in(options_.data.root + "/images")[0];
  std::string text = read_text(image);
  text.back() = static_cast<char>(text.back() ^ 1);
  write_text(image, text);
  namespace fs = std::filesystem;  // the copy and the change may fall into one tick of the clock
  fs::last_write_time(image, fs::last_write_time(image) + std::chrono::seconds(1));
  EXPECT_EQ(stage_data_set(options_).kept, 24u + 3 - 1);
  expect_same_files();
}

TEST_F(StageTest, LeavesARecordOfWhatItTook) {
  const auto cost = [&] { return staging_cost(options_.folder, Split::all, DataFormat::images); };
  EXPECT_FALSE(cost());
  const Staging staging = stage_data_set(options_);
  ASSERT_TRUE(cost());
  EXPECT_EQ(cost()->from, options_.data.root);
  EXPECT_EQ(cost()->images, 24u);
  EXPECT_EQ(cost()->bytes, staging.bytes);
  EXPECT_NEAR(cost()->seconds, staging.seconds, 1e-3);
  EXPECT_FALSE(staging_cost(options_.folder, Split::train, DataFormat::images));
}

TEST_F(StageTest, KeepsTheRecordWhereAllIsThereAndHasNoCostOfAPart) {
  stage_data_set(options_);
  const std::string record = staging_record_path(options_.folder, Split::all, DataFormat::images);
  const std::string text = read_text(record);
  EXPECT_EQ(stage_data_set(options_).copied_bytes, 0u);
  EXPECT_EQ(read_text(record), text);
  std::filesystem::remove(options_.folder + "/test_list.txt");
  stage_data_set(options_);
  EXPECT_FALSE(staging_cost(options_.folder, Split::all, DataFormat::images));
}

TEST_F(StageTest, KeepsTheRecordOfAnOlderVersion) {
  const Staging staging = stage_data_set(options_);
  const std::string older = options_.folder + "/staged-all-png.json";
  std::filesystem::rename(staging.record, older);
  EXPECT_EQ(stage_data_set(options_).record, older);
  EXPECT_FALSE(std::filesystem::exists(staging.record));
  EXPECT_EQ(staging_cost(options_.folder, Split::all, DataFormat::images)->bytes, staging.bytes);
}

TEST_F(StageTest, LooksForRoomBeforeItCopies) {
  options_.free_bytes = [](const std::string&) { return std::uint64_t{1000}; };
  EXPECT_THAT(message_of<OutputError>([&] { stage_data_set(options_); }),
              AllOf(HasSubstr("not enough room in"), HasSubstr("0.0 MB are free")));
  EXPECT_TRUE(names_in(options_.folder + "/images").empty());
}

TEST_F(StageTest, WritesThroughNoLinkInItsFolder) {
  namespace fs = std::filesystem;
  const std::string outside = root_ / "outside", images = options_.folder + "/images";
  fs::create_directories(outside);
  fs::create_directories(options_.folder);
  const auto failure = [&] { return message_of<OutputError>([&] { stage_data_set(options_); }); };
  fs::create_directory_symlink(outside, images);
  EXPECT_THAT(failure(), AllOf(HasSubstr("near/images leads out of"), HasSubstr("remove the link")));
  EXPECT_TRUE(names_in(outside).empty());
  fs::remove(images);
  fs::create_directories(images);
  const std::string name = names_in(options_.data.root + "/images")[0];
  write_text(outside + "/mine", "mine");
  fs::create_symlink(outside + "/mine", images + "/" + name);
  EXPECT_THAT(failure(), HasSubstr(name + " leads out of"));
  EXPECT_EQ(read_text(outside + "/mine"), "mine");
  fs::remove(images + "/" + name);
  fs::create_directory_symlink(options_.folder, root_ / "link");  // the folder itself may be one
  options_.folder = root_ / "link";
  stage_data_set(options_);
  expect_same_files();
}

TEST_F(StageTest, StagesOtherLayouts) {
  options_.data.root = root_ / "classes";
  options_.data.layout = spec::DataLayout::folders;
  for (const char* name : {"owl/1.jpg", "cat/deep/2.png"}) write_text(root_ / (std::string("classes/") + name), name);
  EXPECT_EQ(stage_data_set(options_).files, 2u);
  expect_same_files();
  options_.data.format = DataFormat::tfrecord;
  convert_data_set({.root = options_.data.root, .split = Split::all, .threads = 1});
  EXPECT_THAT(message_of<SpecError>([&] { stage_data_set(options_); }), HasSubstr("use --format images"));
  options_.data = {.root = root_ / "table", .split = Split::all};
  options_.folder = root_ / "near table";
  write_text(root_ / "table/labels.csv", "image,Cat\na.png,1\n");
  write_text(root_ / "table/deep/a.png", "x");
  EXPECT_EQ(stage_data_set(options_).files, 2u);
  expect_same_files();
}

TEST_F(StageTest, RefusesWhatItCannotStage) {
  const auto failure = [&] { return message_of<SpecError>([&] { stage_data_set(options_); }); };
  options_.folder = options_.data.root + "/../set";
  EXPECT_THAT(failure(), HasSubstr("is the data set itself"));
  options_.folder = "s3://bucket/set";
  EXPECT_THAT(failure(), HasSubstr("is a URL"));
  options_.folder = root_ / "near";
  options_.data.format = DataFormat::ready;
  EXPECT_THAT(failure(), HasSubstr("nothing to stage"));
  options_.data.format = DataFormat::cached;
  EXPECT_THAT(failure(), HasSubstr("near --split all --to cached"));
}

}  // namespace
}  // namespace chexbench::dataset

// Tests TensorFlow's shards of ImageNet: the layout, its errors, and the synthetic set of that form.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/errors.hpp"
#include "core/output_file.hpp"
#include "core/scratch.hpp"
#include "dataset/dataset.hpp"
#include "dataset/index.hpp"
#include "dataset/index_report.hpp"
#include "dataset/labelled_root.hpp"
#include "dataset/layouts.hpp"
#include "dataset/make/stage.hpp"
#include "dataset/make/synth.hpp"
#include "formats/record.hpp"
#include "image/jpeg/jpeg_turbo.hpp"

namespace chexbench::dataset {
namespace {

using spec::DataLayout;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Image {
  std::string name;
  std::int64_t class_label = 1;
  std::string synset;
};

class ImagenetLayout : public LabelledRoot {
 protected:
  ImagenetLayout() { spec_.format = spec::DataFormat::tfrecord; }

  void shard(const std::string& name, const std::vector<Image>& images) {
    make_folder(std::filesystem::path(root_ / name).parent_path());
    OutputFile file(root_ / name);
    const auto writer = formats::make_record_writer(spec::DataFormat::tfrecord);
    for (const Image& image : images) {
      writer->write({.filename = image.name,
                     .format = "JPEG",
                     .labels = {},
                     .class_label = image.class_label,
                     .class_name = image.synset},
                    std::as_bytes(std::span("jpeg")), file);
    }
    writer->finish(file);
    file.commit(OutputFile::Durability::renamed);
  }
  // Two training shards and one of the validation.
  void usual_set(const std::string& folder = "", const std::string& validation = "") {
    shard(folder + "train-00000-of-00002", {{"n02_b.JPEG", 3, "n02"}, {"n01_a.JPEG", 1, "n01"}});
    shard(folder + "train-00001-of-00002", {{"n02_a.JPEG", 3, "n02"}});
    shard(validation + "validation-00000-of-00001", {{"val_1.JPEG", 1, "n01"}});
  }
  std::string failure(spec::Split split = spec::Split::train) { return LabelledRoot::failure<DataError>(split); }
};

TEST_F(ImagenetLayout, IsFoundByItsShardsAndIsItsOwnIndex) {
  usual_set();
  const Index index = read();
  EXPECT_EQ(index.layout, DataLayout::imagenet);
  EXPECT_THAT(index.label_names, ElementsAre("n01", "class 2", "n02")) << "no image has class 2";
  const Dataset train = open(spec::Split::train);
  ASSERT_EQ(train.images.size(), 3u);
  EXPECT_EQ(train.images[0].name, "n01_a.JPEG");
  EXPECT_EQ(train.images[0].labels, LabelBits(0b001));
  EXPECT_EQ(train.images[1].labels, LabelBits(0b100));
  EXPECT_FALSE(train.has_patients);
  EXPECT_THAT(train.shards, ElementsAre(root_ / "train-00000-of-00002", root_ / "train-00001-of-00002"));
  EXPECT_THAT(open(spec::Split::val).shards, ElementsAre(root_ / "validation-00000-of-00001"));
  EXPECT_EQ(open(spec::Split::all).images.size(), 4u);
}

TEST_F(ImagenetLayout, IsReportedWithItsShards) {
  usual_set();
  const IndexReport report = report_index(storage::DataRoot(root_.path()));
  ASSERT_EQ(report.shards.size(), 2u);
  EXPECT_EQ(report.shards[0].count, 2u);
  EXPECT_EQ(report.shards[1].split, spec::Split::val);
  EXPECT_EQ(report.train.rows, 3u);
  EXPECT_THAT(report.missing, testing::IsEmpty()) << "the shards hold every image";
  EXPECT_EQ(report.files, 0u);
  EXPECT_THAT(next_step(report, {}), HasSubstr("--set data.format=tfrecord --set data.split=train"));
  EXPECT_THAT(index_report_text(report, 0), HasSubstr("patients: unknown (shards of ImageNet"));
}

TEST_F(ImagenetLayout, MayLieInAFolderForEachSplit) {
  usual_set("train/", "validation/");
  EXPECT_EQ(open(spec::Split::train).images.size(), 3u);
  EXPECT_EQ(open(spec::Split::val).images.size(), 1u);
}

TEST_F(ImagenetLayout, ValidatesWithItsOwnShardsAndTrainsOnAllOthers) {
  usual_set();
  const Dataset train = open(spec::Split::train);
  const PatientSplit split = split_for_epochs(train, 0.1);
  EXPECT_EQ(split.training.images.size(), 3u);
  ASSERT_EQ(split.validation.images.size(), 1u);
  EXPECT_EQ(split.validation.images[0].name, "val_1.JPEG");
  EXPECT_EQ(split.validation.label_names, train.label_names);
  EXPECT_THAT(split.validation.shards, ElementsAre(root_ / "validation-00000-of-00001"));
  const PatientSplit same = split_for_epochs(train, 0);
  EXPECT_EQ(same.validation.images.size(), 3u) << "training.validation_share 0: the images that train validate";
  EXPECT_EQ(open(spec::Split::all).validation, nullptr) << "they would train and validate";
}

TEST_F(ImagenetLayout, ValidatesWithAShareOfTheOthersIfItHasNoneOfItsOwn) {
  usual_set();
  std::filesystem::remove(root_ / "validation-00000-of-00001");
  const Dataset train = open(spec::Split::train);
  EXPECT_EQ(train.validation, nullptr);
  EXPECT_EQ(split_for_epochs(train, 0.3).validation.images.size(), 1u);
}

TEST_F(ImagenetLayout, HasAsManyClassesAsTheSpecSays) {
  usual_set();
  spec_.layout = DataLayout::imagenet;
  spec_.labels.classes = 1000;
  const Dataset train = open(spec::Split::train);
  EXPECT_EQ(train.labels(), 1000);
  EXPECT_EQ(train.label_names.back(), "class 1000");
  spec_.labels.classes = 2;
  EXPECT_THAT(failure(), AllOf(HasSubstr("train-00000-of-00002: record at offset 0"),
                               HasSubstr("image/class/label is 3, expected a class from 1 to 2")));
}

TEST_F(ImagenetLayout, ClassesBeginAtOne) {
  usual_set();
  shard("validation-00000-of-00001", {{"val_1.JPEG", 1, "n01"}, {"val_2.JPEG", 0, ""}});
  EXPECT_THAT(failure(), AllOf(HasSubstr("validation-00000-of-00001: record at offset"),
                               HasSubstr("image/class/label is 0"), HasSubstr("0 is the background")));
}

TEST_F(ImagenetLayout, ThatMissesAShardIsRefused) {
  usual_set();
  std::filesystem::remove(root_ / "train-00001-of-00002");
  EXPECT_THAT(failure(), HasSubstr("holds 1 of the 2 shards train-00000-of-00002"));
  shard("train-00000-of-00004", {{"x.JPEG", 1, ""}});
  EXPECT_THAT(failure(), HasSubstr("mixes shards of 'train' of 2 and of 4"));
}

TEST_F(ImagenetLayout, OneNameTwiceIsRefused) {
  usual_set();
  shard("validation-00000-of-00001", {{"n01_a.JPEG", 1, "n01"}});
  EXPECT_THAT(failure(), HasSubstr("'n01_a.JPEG' has more than one row"));
}

TEST_F(ImagenetLayout, HoldsTfrecordsAlone) {
  usual_set();
  for (const auto format : {spec::DataFormat::images, spec::DataFormat::webdataset, spec::DataFormat::cached}) {
    spec_.format = format;
    EXPECT_THAT(failure(), HasSubstr("holds TFRecords alone (data.layout imagenet), but data.format is " +
                                     spec::to_string(format)));
  }
}

std::vector<std::string> lines_of(const Index& index) {
  std::vector<std::string> lines{
      fmt::format("{} {} {}", index.has_train_list, index.has_val_list, index.has_test_list)};
  for (const IndexRow& row : index.rows) {
    lines.push_back(fmt::format("{} {} {} {} {}", row.name, labels_text(row.labels, index.label_names), row.in_train,
                                row.in_val, row.patient));
  }
  for (const IndexShard& shard : index.shards) lines.push_back(shard.path);
  return lines;
}

TEST_F(ImagenetLayout, IsReadInSharesToTheSameIndex) {
  usual_set();
  spec_.root = root_.path();
  const storage::DataRoot root(spec_);
  ASSERT_TRUE(is_own_index(root));
  const std::vector<std::string> whole = lines_of(read_index(root));
  for (const int shares : {1, 2, 3, 7}) {
    std::vector<std::string> texts;
    for (int share = 0; share < shares; ++share) texts.push_back(read_index_share(root, share, shares));
    const std::optional<Index> joined = join_index_shares(root, texts);
    ASSERT_TRUE(joined) << shares;
    EXPECT_EQ(lines_of(*joined), whole) << shares;
    EXPECT_THAT(joined->label_names, ElementsAre("n01", "class 2", "n02")) << shares;
    EXPECT_EQ(open_dataset(spec_, {}, *joined).images.size(), 3u);
    texts.back().clear();
    EXPECT_FALSE(join_index_shares(root, texts)) << "one of " << shares << " is missing";
  }
}

TEST_F(ImagenetLayout, IsNotJoinedFromSharesOfOtherShards) {
  usual_set();
  const storage::DataRoot root(root_.path());
  std::vector<std::string> texts{read_index_share(root, 0, 2), read_index_share(root, 1, 2)};
  std::filesystem::rename(root_ / "validation-00000-of-00001", root_ / "test-00000-of-00001");
  EXPECT_FALSE(join_index_shares(root, texts));
  shard("test-00000-of-00001", {{"bad.JPEG", 0, ""}});
  EXPECT_THAT(message_of<DataError>([&] { read_index_share(root, 0, 2); }), HasSubstr("test-00000-of-00001"))
      << "the third shard is in the first share of two";
  EXPECT_FALSE(read_index_share(root, 1, 2).empty());
}

TEST_F(ImagenetLayout, IsStagedAsItsShards) {
  usual_set();
  spec_.root = root_.path();
  spec_.split = spec::Split::train;
  const ScratchFolder near;
  const std::string folder = near / "set";
  EXPECT_EQ(stage_data_set({.data = spec_, .folder = folder}).files, 2u);
  spec_.root = folder;
  EXPECT_EQ(open_dataset(spec_).images.size(), 3u);
}

TEST_F(ImagenetLayout, WithoutShardsSaysWhatItExpects) {
  spec_.layout = DataLayout::imagenet;
  EXPECT_THAT(failure(), HasSubstr("expects TensorFlow's TFRecords, train-00000-of-01024"));
  usual_set();
  std::filesystem::remove(root_ / "validation-00000-of-00001");
  EXPECT_THAT(failure(spec::Split::val), HasSubstr("there is no shard of split 'val' (validation-00000-of-...)"));
}

TEST(SynthClasses, AreColourJpegsOfEachClassInBothSplits) {
  if (image::make_jpeg_decoder() == nullptr) GTEST_SKIP() << "this build has no libjpeg-turbo";
  const ScratchFolder folder;
  const std::string root = folder / "set";
  const SynthResult result = write_synthetic_classes({.directory = root, .images = 60, .classes = 3, .size = 64});
  EXPECT_EQ(result.images, 60u);
  const Dataset train = open_dataset({.root = root, .format = spec::DataFormat::tfrecord, .split = spec::Split::train});
  const Dataset val = open_dataset({.root = root, .format = spec::DataFormat::tfrecord, .split = spec::Split::val});
  EXPECT_THAT(train.label_names, ElementsAre("n00000001", "n00000002", "n00000003"));
  EXPECT_EQ(train.images.size(), 54u);
  EXPECT_EQ(val.images.size(), 6u);
  for (const ImageEntry& image : val.images) {
    int labels = 0;
    image.labels.for_each([&labels](std::size_t) { ++labels; });
    EXPECT_EQ(labels, 1) << image.name;
  }
  EXPECT_THAT(message_of<OutputError>(
                  [&] { write_synthetic_classes({.directory = root, .images = 60, .classes = 3, .size = 64}); }),
              HasSubstr("is not an empty folder"));
}

TEST(SynthClasses, OutOfRangeAreRefused) {
  const auto refusal = [](const SynthClassesOptions& options) {
    return message_of<SpecError>([&] { write_synthetic_classes(options); });
  };
  EXPECT_THAT(refusal({.directory = "d", .images = 10, .classes = 1}), HasSubstr("--classes 1: it must be from 2"));
  EXPECT_THAT(refusal({.directory = "d", .images = 2, .classes = 3}), HasSubstr("--images 2: it must be from 3"));
  EXPECT_THAT(refusal({.directory = "d", .images = 9, .classes = 3, .size = 8}), HasSubstr("--size 8"));
}

}  // namespace
}  // namespace chexbench::dataset

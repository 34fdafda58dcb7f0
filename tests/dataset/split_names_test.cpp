// Tests which names of folders and fields mean a split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch.hpp"
#include "dataset/layouts.hpp"

namespace chexbench::dataset {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SplitNames, AreThoseOfOtherLoadersInAnyCase) {
  for (const char* name : {"train", "Train", "TRAIN", "training", "Training"})
    EXPECT_EQ(split_called(name), &IndexRow::in_train) << name;
  for (const char* name : {"val", "Val", "valid", "VALID", "validate", "validation", "Validation", "dev"})
    EXPECT_EQ(split_called(name), &IndexRow::in_val) << name;
  for (const char* name : {"test", "TEST", "testing", "Testing", "eval", "evaluation"})
    EXPECT_EQ(split_called(name), &IndexRow::in_test) << name;
  for (const char* name : {"", "trains", "tests", "training_set", "v al", "evaluations", "other"})
    EXPECT_EQ(split_called(name), nullptr) << name;
}

TEST(SplitNames, AreSuggestedByAWord) {
  for (const char* name : {"train_images", "Test set 2", "seg-test", "train2017", "VAL.v2"})
    EXPECT_TRUE(suggests_split(name)) << name;
  for (const char* name : {"", "restraint", "latest", "devices", "2017", "trainer"})
    EXPECT_FALSE(suggests_split(name)) << name;
}

class SplitFolders : public testing::Test {
 protected:
  void images(const std::vector<std::string>& names) {
    for (const std::string& name : names) write_text(root_ / name, "1");
  }
  // Returns the labels; `warnings_` gets the warnings logged meanwhile.
  std::vector<std::string> labels() {
    testing::internal::CaptureStderr();
    const Index index = read_index(root_.path());
    warnings_ = testing::internal::GetCapturedStderr();
    for (const IndexRow& row : index.rows) {
      if (row.in_train) ++train_;
      if (row.in_val) ++val_;
      if (row.in_test) ++test_;
    }
    return index.label_names;
  }

  ScratchFolder root_;
  std::string warnings_;
  int train_ = 0, val_ = 0, test_ = 0;
};

TEST_F(SplitFolders, MustBeTwoOrAllIfTheirNameMayBeAClass) {
  images({"Bus/1.png", "Car/1.png", "Train/1.png"});
  EXPECT_THAT(labels(), ElementsAre("Bus", "Car", "Train"));
  EXPECT_THAT(warnings_, HasSubstr("Train looks like a split"));
  EXPECT_EQ(train_, 0);
}

TEST_F(SplitFolders, WithCapitalsHoldTheClasses) {
  images({"Training/glioma/1.png", "Training/healthy/1.png", "VALID/glioma/2.png", "dev/glioma/3.png",
          "Testing/healthy/4.png"});
  EXPECT_THAT(labels(), ElementsAre("glioma", "healthy"));
  EXPECT_EQ(train_, 2);
  EXPECT_EQ(val_, 2);
  EXPECT_EQ(test_, 1);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(SplitFolders, ThatAreNotUsedAsSuchAreWarnedOf) {
  images({"train_images/1.png", "test_images/1.png"});
  EXPECT_THAT(labels(), ElementsAre("test_images", "train_images"));
  EXPECT_THAT(warnings_, AllOf(HasSubstr("test_images looks like a split"), HasSubstr("1 more")));
}

TEST_F(SplitFolders, WithinAClassAreWarnedOf) {
  images({"cat/train/1.png", "cat/Test/1.png", "dog/train/1.png"});
  EXPECT_THAT(labels(), ElementsAre("cat", "dog"));
  EXPECT_EQ(train_ + test_, 0);
  EXPECT_THAT(warnings_, AllOf(HasSubstr("cat/Test looks like a split"), HasSubstr("2 more")));
}

}  // namespace
}  // namespace chexbench::dataset

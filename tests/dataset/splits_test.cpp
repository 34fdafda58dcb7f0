// Tests how images are split: by patients, and by the names of folders and fields.
#include "dataset/dataset.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/errors.hpp"
#include "dataset/labelled_root.hpp"

namespace chexbench::dataset {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns a data set of `patients` patients: the first has one image, the second two, and so on up to five.
Dataset dataset(std::uint32_t patients) {
  Dataset made;
  for (std::uint32_t patient = 1; patient <= patients; ++patient) {
    for (std::uint32_t i = 0; i <= patient % 5; ++i) {
      made.images.push_back({.name = fmt::format("{:03}_{}.png", patient, i), .patient = patient});
    }
  }
  made.total_bytes = 1000 * made.images.size();
  return made;
}

std::set<std::uint32_t> patients_of(const Dataset& part) {
  std::set<std::uint32_t> patients;
  for (const ImageEntry& image : part.images) patients.insert(image.patient);
  return patients;
}

TEST(PatientSplit, DividesPatientsAndLosesNoImage) {
  const Dataset all = dataset(100);
  const PatientSplit split = split_by_patient(all, 0.2);
  EXPECT_EQ(split.training.images.size() + split.validation.images.size(), all.images.size());
  EXPECT_EQ(patients_of(split.validation).size(), 20u);
  std::set<std::uint32_t> both = patients_of(split.training);
  both.merge(patients_of(split.validation));
  EXPECT_EQ(both.size(), 100u);
  EXPECT_EQ(patients_of(split.training).size(), 80u);
  EXPECT_NEAR(static_cast<double>(split.training.total_bytes + split.validation.total_bytes),
              static_cast<double>(all.total_bytes), 2);
}

TEST(PatientSplit, OfNoShareIsAllImagesTwice) {
  const PatientSplit split = split_by_patient(dataset(1), 0);
  EXPECT_EQ(split.training.images.size(), dataset(1).images.size());
  EXPECT_EQ(split.validation.images.size(), dataset(1).images.size());
  EXPECT_FALSE(split.validation.partial);
}

TEST(PatientSplit, KeepsTheOrderOfNames) {
  for (const Dataset& part :
       {split_by_patient(dataset(50), 0.3).training, split_by_patient(dataset(50), 0.3).validation}) {
    EXPECT_TRUE(std::ranges::is_sorted(part.images, {}, &ImageEntry::name));
  }
}

// The validation patients of a small share are among those of a larger share.
TEST(PatientSplit, GrowsWithTheShare) {
  const std::set<std::uint32_t> few = patients_of(split_by_patient(dataset(100), 0.1).validation);
  const std::set<std::uint32_t> many = patients_of(split_by_patient(dataset(100), 0.4).validation);
  EXPECT_TRUE(std::ranges::includes(many, few));
}

TEST(PatientSplit, LeavesEachPartSomebody) {
  EXPECT_EQ(patients_of(split_by_patient(dataset(3), 0.01).validation).size(), 1u);
  EXPECT_EQ(patients_of(split_by_patient(dataset(3), 0.9).training).size(), 1u);
  EXPECT_THROW(split_by_patient(dataset(1), 0.5), DataError);
  EXPECT_THROW(split_by_patient(dataset(0), 0.5), DataError);
}

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

class SplitFolders : public LabelledRoot {
 protected:
  // Returns the labels; `warnings_` gets the warnings logged meanwhile.
  std::vector<std::string> labels() {
    testing::internal::CaptureStderr();
    const Index index = read();
    warnings_ = testing::internal::GetCapturedStderr();
    for (const IndexRow& row : index.rows) {
      train_ += row.in_train ? 1 : 0;
      val_ += row.in_val ? 1 : 0;
      test_ += row.in_test ? 1 : 0;
    }
    return index.label_names;
  }

  std::string warnings_;
  int train_ = 0, val_ = 0, test_ = 0;
};

TEST_F(SplitFolders, MustBeTwoOrAllIfTheirNameMayBeAClass) {
  files({"Bus/1.png", "Car/1.png", "Train/1.png"});
  EXPECT_THAT(labels(), ElementsAre("Bus", "Car", "Train"));
  EXPECT_THAT(warnings_, HasSubstr("Train looks like a split"));
  EXPECT_EQ(train_, 0);
}

TEST_F(SplitFolders, WithCapitalsHoldTheClasses) {
  files({"Training/glioma/1.png", "Training/healthy/1.png", "VALID/glioma/2.png", "dev/glioma/3.png",
         "Testing/healthy/4.png"});
  EXPECT_THAT(labels(), ElementsAre("glioma", "healthy"));
  EXPECT_EQ(train_, 2);
  EXPECT_EQ(val_, 2);
  EXPECT_EQ(test_, 1);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(SplitFolders, ThatAreNotUsedAsSuchAreWarnedOf) {
  files({"train_images/1.png", "test_images/1.png"});
  EXPECT_THAT(labels(), ElementsAre("test_images", "train_images"));
  EXPECT_THAT(warnings_, AllOf(HasSubstr("test_images looks like a split"), HasSubstr("1 more")));
}

TEST_F(SplitFolders, WithinAClassAreWarnedOf) {
  files({"cat/train/1.png", "cat/Test/1.png", "dog/train/1.png"});
  EXPECT_THAT(labels(), ElementsAre("cat", "dog"));
  EXPECT_EQ(train_ + test_, 0);
  EXPECT_THAT(warnings_, AllOf(HasSubstr("cat/Test looks like a split"), HasSubstr("2 more")));
}

}  // namespace
}  // namespace chexbench::dataset

// Tests the layouts of CheXpert and MIMIC-CXR-JPG: their tables, splits, file names, and the meaning of -1 and blanks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/index_report.hpp"
#include "dataset/labelled_root.hpp"
#include "dataset/layouts.hpp"
#include "dataset/make/check.hpp"
#include "dataset/make/convert.hpp"
#include "dataset/make/stage.hpp"

namespace chexbench::dataset {
namespace {

using spec::DataLayout;
using spec::Split;
using spec::UnclearLabel;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

using HospitalTest = LabelledRoot;

class ChexpertLayout : public HospitalTest {
 protected:
  // As published: the observations in this order, after four columns on patient and view.
  static constexpr std::string_view kHeader =
      "Path,Sex,Age,Frontal/Lateral,AP/PA,No Finding,Enlarged Cardiomediastinum,Cardiomegaly,Lung Opacity,Lung Lesion,"
      "Edema,Consolidation,Pneumonia,Atelectasis,Pneumothorax,Pleural Effusion,Pleural Other,Fracture,Support "
      "Devices\n";
  static std::string row(std::string_view path, std::string_view labels) {
    return std::string("CheXpert-v1.0-small/") + std::string(path) + ",Female,68,Frontal,AP," + std::string(labels) +
           "\n";
  }
  void tables() {
    file("train.csv", std::string(kHeader) +
                          row("train/patient00002/study2/view1_frontal.jpg", ",,1.0,,,-1.0,,,,0.0,,,,1.0") +
                          row("train/patient00001/study1/view1_frontal.jpg", "1.0,,,,,,,,,0.0,,,,1.0"));
    file("valid.csv", std::string(kHeader) + row("valid/patient64541/study1/view1_frontal.jpg",
                                                 "0.0,1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0"));
  }
  void images() {
    for (const char* name : {"train/patient00001/study1", "train/patient00002/study2", "valid/patient64541/study1"})
      file(std::string(name) + "/view1_frontal.jpg", "1234");
  }
};

TEST_F(ChexpertLayout, IsFoundByItsTablesAndReadWithPatientsAndSplits) {
  tables();
  const Index index = read();
  EXPECT_EQ(index.layout, DataLayout::chexpert);
  ASSERT_EQ(index.label_names.size(), 14u);
  EXPECT_EQ(index.label_names.front(), "No Finding");
  EXPECT_EQ(index.label_names.back(), "Support Devices");
  ASSERT_EQ(index.rows.size(), 3u);
  EXPECT_EQ(index.rows[0].name, "patient00001/study1/view1_frontal.jpg");
  EXPECT_EQ(index.rows[2].patient, 64541u);
  EXPECT_EQ(text_of(index, 2), "Enlarged Cardiomediastinum");
  images();
  EXPECT_EQ(open(Split::train).images.size(), 2u);
  const Dataset valid = open(Split::val);
  EXPECT_EQ(valid.images.at(0).path, root_ / "valid/patient64541/study1/view1_frontal.jpg");
  EXPECT_TRUE(valid.has_patients);
}

TEST_F(ChexpertLayout, TakesUncertainForPresentAndBlankForAbsentUnlessToldOtherwise) {
  tables();
  EXPECT_EQ(text_of(read(), 1), "Cardiomegaly|Edema|Support Devices") << "U-Ones";
  spec_.layout = DataLayout::chexpert;
  spec_.labels.uncertain = UnclearLabel::zeros;
  EXPECT_EQ(text_of(read(), 1), "Cardiomegaly|Support Devices") << "U-Zeros";
  spec_.labels.uncertain = UnclearLabel::ignore;
  const Index index = read();
  EXPECT_EQ(text_of(index, 1), "Cardiomegaly|Support Devices");
  EXPECT_TRUE(index.rows[1].labels.is_ignored(5)) << "Edema";
  EXPECT_FALSE(index.rows[1].labels.is_ignored(0)) << "a blank is still 0";
  spec_.labels.blank = UnclearLabel::ignore;
  EXPECT_TRUE(read().rows[1].labels.is_ignored(0));
  EXPECT_FALSE(read().rows[1].labels.is_ignored(2)) << "it is known to be there";
}

TEST_F(ChexpertLayout, ReadsTheFiveLabelsOfTheCompetition) {
  tables();
  spec_.layout = DataLayout::chexpert;
  spec_.labels.columns = "Atelectasis,Cardiomegaly,Consolidation,Edema,Pleural Effusion";
  const Index index = read();
  EXPECT_THAT(index.label_names,
              ElementsAre("Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Pleural Effusion"));
  EXPECT_EQ(text_of(index, 1), "Cardiomegaly|Edema");
}

// The full edition has its images in folders such as "CheXpert-v1.0 batch 2 (train 1)".
TEST_F(ChexpertLayout, FindsImagesWhateverTheFoldersAboveAreCalledAndWhateverTheyWereConvertedTo) {
  tables();
  file("CheXpert-v1.0 batch 2 (train 1)/patient00001/study1/view1_frontal.png", "1234");
  EXPECT_EQ(open(Split::train).images.at(0).name, "patient00001/study1/view1_frontal.jpg");
  file("train/patient00001/study1/view1_frontal.jpg", "1234");
  EXPECT_THAT(failure<DataError>(Split::train),
              HasSubstr("are both the image 'patient00001/study1/view1_frontal.jpg': keep one of them"));
}

TEST_F(ChexpertLayout, NamesTheRowOfWhatItCannotRead) {
  file("train.csv", std::string(kHeader) + row("train/patient1/study1/view1_frontal.jpg", ",,2.0,,,,,,,,,,,"));
  EXPECT_THAT(failure<DataError>(), HasSubstr("train.csv:2: column 'Cardiomegaly' is '2.0', expected 0 or 1"));
  file("train.csv", std::string(kHeader) + row("train/someone/study1/view1_frontal.jpg", ",,,,,,,,,,,,,"));
  EXPECT_THAT(failure<DataError>(), AllOf(HasSubstr("train.csv:2"), HasSubstr("is not the path of a CheXpert image")));
  file("train.csv", std::string(kHeader) + row("train/patient1/../view1_frontal.jpg", ",,,,,,,,,,,,,"));
  EXPECT_THAT(failure<DataError>(), AllOf(HasSubstr("train.csv:2"), HasSubstr("is not the path of a CheXpert image")));
  file("train.csv", std::string(kHeader) + row("train/patient1/study1/view1_frontal.jpg", ",,"));
  EXPECT_THAT(failure<DataError>(), HasSubstr("train.csv:2: the row has 8 fields, the header has 19"));
  file("train.csv", "Path,Sex,Age,Frontal/Lateral,AP/PA,Edema\n");
  EXPECT_THAT(failure<SpecError>(), HasSubstr("has no column 'No Finding'"));
  file("train.csv", kHeader);
  EXPECT_THAT(failure<DataError>(), HasSubstr("the table has no rows"));
}

TEST_F(ChexpertLayout, IsNotAssumedOfAnotherTableOfThatName) {
  file("train.csv", "image,Cat\na.png,1\n");
  EXPECT_EQ(read().layout, DataLayout::csv);
  spec_.layout = DataLayout::chexpert;
  EXPECT_THAT(failure<SpecError>(), HasSubstr("has no column 'Path'"));
}

// Labels come from the table, so shards that were written under one policy can be read under another.
TEST_F(ChexpertLayout, TellsThatShardsHoldTheLabelsOfAnotherPolicy) {
  tables();
  images();
  convert_data_set({.root = root_.path(), .split = Split::train});
  EXPECT_THAT(check_data_set(root(), 1).problems, Not(Contains(HasSubstr("the table says"))));
  spec_.format = spec::DataFormat::tfrecord;
  spec_.layout = DataLayout::chexpert;
  spec_.labels.uncertain = UnclearLabel::ignore;
  EXPECT_TRUE(open(Split::train).has_unclear_labels);
  EXPECT_TRUE(open(Split::train).images.at(1).labels.is_ignored(5));
  EXPECT_THAT(check_data_set(root(), 1).problems, Contains(HasSubstr("has the labels Cardiomegaly|Edema")));
}

TEST_F(ChexpertLayout, IsStagedWithAllItsTables) {
  tables();
  images();
  const ScratchFolder target;
  spec_.root = root_.path();
  spec_.split = Split::train;
  stage_data_set({.data = spec_, .folder = target / "copy"});
  spec_.root = target / "copy";
  EXPECT_EQ(open_dataset(spec_).images.size(), 2u);
  EXPECT_EQ(read_index(storage::DataRoot(spec_)).rows.size(), 3u);
}

class MimicLayout : public HospitalTest {
 protected:
  static constexpr std::string_view kLabels =
      "subject_id,study_id,Atelectasis,Cardiomegaly,Consolidation,Edema,Enlarged Cardiomediastinum,Fracture,Lung "
      "Lesion,"
      "Lung Opacity,No Finding,Pleural Effusion,Pleural Other,Pneumonia,Pneumothorax,Support Devices\n"
      "10000032,50414267,,,,,,,,,1.0,,,,,\n"
      "10000764,57375967,,,1.0,-1.0,,,,,,,,0.0,,\n";
  static constexpr std::string_view kSplit =
      "dicom_id,study_id,subject_id,split\n"
      "02aa804e,50414267,10000032,train\n"
      "174413ec,50414267,10000032,train\n"
      "096052b7,57375967,10000764,validate\n";
  void packed(const std::string& name, std::string_view text) {
    gzFile out = ::gzopen((root_ / name).c_str(), "wb");
    ::gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    ::gzclose(out);
  }
};

TEST_F(MimicLayout, JoinsLabelsAndSplitsByStudy) {
  file("mimic-cxr-2.0.0-chexpert.csv", kLabels);
  packed("mimic-cxr-2.0.0-split.csv.gz", kSplit);
  const Index index = read();
  EXPECT_EQ(index.layout, DataLayout::mimic);
  EXPECT_EQ(index.label_names.front(), "No Finding") << "in CheXpert's order";
  ASSERT_EQ(index.rows.size(), 3u);
  EXPECT_EQ(index.rows[0].name, "p10/p10000032/s50414267/02aa804e.jpg");
  EXPECT_EQ(text_of(index, 1), "No Finding");
  EXPECT_EQ(text_of(index, 2), "Edema|Consolidation");
  EXPECT_EQ(index.rows[2].patient, 10000764u);
  file("files/p10/p10000764/s57375967/096052b7.jpg", "1234");
  EXPECT_EQ(open(Split::val).images.at(0).path, root_ / "files/p10/p10000764/s57375967/096052b7.jpg");
}

TEST_F(MimicLayout, TakesTheLatestVersionAndAPlainTableBeforeAPackedOne) {
  packed("mimic-cxr-2.0.0-chexpert.csv.gz", "damaged");
  packed("mimic-cxr-2.1.0-chexpert.csv.gz", "damaged");
  file("mimic-cxr-2.1.0-chexpert.csv", kLabels);
  file("mimic-cxr-2.0.0-split.csv", kSplit);
  EXPECT_EQ(read().table, root_ / "mimic-cxr-2.1.0-chexpert.csv");
}

TEST_F(MimicLayout, LeavesImagesOfStudiesWithoutLabelsOut) {
  file("mimic-cxr-2.0.0-chexpert.csv", kLabels);
  file("mimic-cxr-2.0.0-split.csv", std::string(kSplit) + "3a3a3a3a,59999999,10000764,test\n");
  EXPECT_EQ(read().rows.size(), 3u);
}

TEST_F(MimicLayout, NamesTheTableAndTheRowOfWhatItCannotRead) {
  file("mimic-cxr-2.0.0-chexpert.csv", kLabels);
  EXPECT_THAT(failure<DataError>(), HasSubstr("no table mimic-cxr-*-split.csv or mimic-cxr-*-split.csv.gz"));
  file("mimic-cxr-2.0.0-split.csv", "dicom_id,study_id,subject_id,split\n02aa804e,50414267,10000032,holdout\n");
  EXPECT_THAT(failure<DataError>(),
              HasSubstr("split.csv:2: 'holdout' is not a split: expected train, validate or test"));
  file("mimic-cxr-2.0.0-split.csv", "dicom_id,study_id,subject_id,split\n../x,50414267,10000032,train\n");
  EXPECT_THAT(failure<DataError>(), HasSubstr("split.csv:2: '../x' is not the name of an image"));
  file("mimic-cxr-2.0.0-split.csv", "dicom_id,study_id,split\n");
  EXPECT_THAT(failure<DataError>(), HasSubstr("split.csv:1: the header has no column 'subject_id'"));
  file("mimic-cxr-2.0.0-split.csv", "dicom_id,study_id,subject_id,split\n02aa804e,s50414267,10000032,train\n");
  EXPECT_THAT(failure<DataError>(), HasSubstr("'s50414267' is not the number of a patient or a study"));
  file("mimic-cxr-2.0.0-split.csv", kSplit);
  file("mimic-cxr-2.0.0-chexpert.csv", std::string(kLabels) + "10000764,57375967,,,,,,,,,,,,,,\n");
  EXPECT_THAT(failure<DataError>(), HasSubstr("chexpert.csv:4: study 57375967 has more than one row"));
}

TEST_F(MimicLayout, RefusesATableThatIsNotPackedAsItsNameSays) {
  file("mimic-cxr-2.0.0-chexpert.csv.gz", kLabels);
  file("mimic-cxr-2.0.0-split.csv", kSplit);
  EXPECT_THAT(failure<DataError>(), HasSubstr("mimic-cxr-2.0.0-chexpert.csv.gz: it is no GZIP file"));
  packed("mimic-cxr-2.0.0-chexpert.csv.gz", kLabels);
  const std::string whole = read_text(root_ / "mimic-cxr-2.0.0-chexpert.csv.gz");
  file("mimic-cxr-2.0.0-chexpert.csv.gz", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(failure<DataError>(), HasSubstr("the stream is truncated"));
}

// A user's own table may contain the same values, but then its owner defines their meaning.
TEST_F(HospitalTest, AnOwnTableNeedsAPolicy) {
  file("labels.csv", "image,Edema,Mass\na.png,-1,\n");
  EXPECT_THAT(failure<DataError>(), HasSubstr("data.labels.uncertain says what this value means"));
  spec_.layout = DataLayout::csv;
  spec_.labels.uncertain = UnclearLabel::ones;
  EXPECT_THAT(failure<DataError>(), AllOf(HasSubstr("column 'Mass' is ''"), HasSubstr("data.labels.blank says")));
  spec_.labels.blank = UnclearLabel::ignore;
  EXPECT_EQ(text_of(read(), 0), "Edema");
  EXPECT_TRUE(read().rows[0].labels.is_ignored(1));
}

TEST_F(HospitalTest, OnlySixtyFourLabelsCanBeIgnored) {
  std::string header = "image", row = "\na.png";
  for (int label = 0; label <= 64; ++label) {
    header += ",c" + std::to_string(label);
    row += label == 64 ? "," : ",0";
  }
  file("labels.csv", header + row + "\n");
  spec_.layout = DataLayout::csv;
  spec_.labels.blank = UnclearLabel::ignore;
  EXPECT_THAT(failure<DataError>(), HasSubstr("U-Ignore can leave out the first 64 labels only"));
}

}  // namespace
}  // namespace chexbench::dataset

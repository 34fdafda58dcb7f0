#include "dataset/index_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/scratch.hpp"
#include "image/dicom/dicom_decoder.hpp"

namespace chexbench::dataset {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// A root with five rows. b.png has no file, z.png has no row, and patient 1 is in both lists.
class IndexReportTest : public testing::Test {
 protected:
  IndexReportTest() {
    write_table(root_,
                "a.png,Mass|Edema,0,1,10,M,PA,1,1,1,1,\n"
                "b.png,Mass,1,1,20,F,PA,1,1,1,1,\n"
                "c.png,No Finding,0,2,30,F,PA,1,1,1,1,\n"
                "d.png,No Finding,0,3,?,,PA,1,1,1,1,\n"
                "e.png,No Finding,0,3,40,M,PA,1,1,1,1,\n");
    write_text(root_ / "train_val_list.txt", "a.png\nc.png\nghost.png\n");
    write_text(root_ / "test_list.txt", "b.png\nd.png\n");
    write_text(root_ / "images/a.png", "12345");
    write_text(root_ / "images_001/c.png", "1");
    write_text(root_ / "images_012/images/d.png", "12");
    write_text(root_ / "images/e.png", "");
    write_text(root_ / "images/z.png", "1");
    report_ = report_index(root_.path());
  }
  ScratchFolder root_;
  IndexReport report_;
};

TEST_F(IndexReportTest, CountsRowsPatientsAndLabels) {
  EXPECT_EQ(report_.rows, 5u);
  EXPECT_EQ(report_.patients, 3u);
  EXPECT_EQ(report_.label_rows[4], 2u);
  EXPECT_EQ(report_.label_rows[9], 1u);
  EXPECT_EQ(report_.no_finding, 3u);
  EXPECT_EQ(report_.men, 2u);
  EXPECT_EQ(report_.women, 2u);
  EXPECT_EQ(report_.median_age_years, 30);
}

TEST_F(IndexReportTest, CountsSplits) {
  EXPECT_EQ(report_.train.rows, 2u);
  EXPECT_EQ(report_.train.files, 2u);
  EXPECT_EQ(report_.test.rows, 2u);
  EXPECT_EQ(report_.test.files, 1u);
  EXPECT_EQ(report_.in_no_split, 1u);
  EXPECT_EQ(report_.in_both_lists, 0u);
}

TEST_F(IndexReportTest, NamesMissingAndOrphanFiles) {
  EXPECT_THAT(report_.missing, ElementsAre("b.png"));
  EXPECT_THAT(report_.orphans, ElementsAre("z.png"));
  EXPECT_THAT(report_.listed_without_row, ElementsAre("ghost.png"));
  EXPECT_EQ(report_.files, 5u);
  EXPECT_EQ(report_.file_bytes, 9u);
}

TEST_F(IndexReportTest, NamesPatientsInBothSplits) { EXPECT_THAT(*report_.patients_in_both_splits, ElementsAre("1")); }

TEST_F(IndexReportTest, PrintsOneKeyALine) {
  EXPECT_THAT(
      index_report_text(report_),
      AllOf(HasSubstr("\nimages: 5\n"), HasSubstr("\nlabel.Mass: 2\n"), HasSubstr("\nmissing_files: 1 (b.png)\n"),
            HasSubstr("\npatients_in_both_splits: 1 (1)\n"), HasSubstr("\nsplit.test.files: 1\n")));
  report_.orphans = {"p", "q", "r"};
  EXPECT_THAT(index_report_text(report_, 2), HasSubstr("\norphan_files: 3 (p, q, ...)\n"));
}

TEST_F(IndexReportTest, BriefHasWhatIsWrongWithoutZerosAndSizes) {
  report_.ignored_labels = 2;
  EXPECT_THAT(index_report_text(report_, 5, true),
              AllOf(HasSubstr("\nignored labels: 2\n"), HasSubstr("\nmissing files: 1 (b.png)\n"),
                    HasSubstr("\norphan files: 1 (z.png)\n"), HasSubstr("\npatients in both splits: 1 (1)\n"),
                    testing::Not(HasSubstr(": 0\n")), testing::Not(HasSubstr("label.Mass"))));
}

TEST_F(IndexReportTest, SaysFormatsAndSizesOfTheFiles) {
  EXPECT_EQ(report_.png_files, 5u);
  EXPECT_EQ(report_.mean_file_bytes(), 9.0 / 5);
  EXPECT_THAT(index_report_text(report_),
              HasSubstr("\nfiles.png: 5\nfiles.jpeg: 0\nfile_bytes: 9\nmean_file_bytes: 2\n"));
}

TEST_F(IndexReportTest, BeginsWithWhatThereIsAndWhatIsWrong) {
  IndexReport report{.layout = spec::DataLayout::folders};
  report.rows = 3;
  report.label_names = {"a", "b"};
  report.label_rows = {1, 1};
  report.train.rows = 2;
  report.test.rows = 1;
  EXPECT_THAT(index_report_text(report), StartsWith("3 images, 2 labels (folders): 2 train, 1 test\n"));
  report.patients = 1;
  report.missing = {"x.png"};
  report.orphans = {"y.png", "z.png"};
  EXPECT_THAT(
      index_report_text(report),
      StartsWith("3 images of 1 patient, 2 labels (folders): 2 train, 1 test; 1 missing file, 2 files without a "
                 "row\n"));
}

TEST_F(IndexReportTest, CountsShardsOfEveryFormatAndSplitAndSaysWhatIsWrongWithThem) {
  EXPECT_THAT(index_report_text(report_), HasSubstr("\nshards: 0\ncached_files: 0\n"));
  for (const char* shard : {"tfrecord/all-00000-of-00002", "tfrecord/all-00001-of-00002", "webdataset/train-000000.tar",
                            "webdataset/train-000002.tar", "cached/train-224-bilinear.gray"}) {
    write_text(root_ / shard, "");
  }
  EXPECT_THAT(index_report_text(report_index(root_.path())),
              AllOf(HasSubstr("\nshards.tfrecord.all: 2\nshards.webdataset.train: 3 (unusable: shard train-000001.tar"),
                    HasSubstr("\ncached_files: 1 (train-224-bilinear.gray)\n")));
}

TEST_F(IndexReportTest, NamesTheCommandThatMeasuresTheRoot) {
  report_.root = "/data/it's mine";
  EXPECT_EQ(next_step(report_, {"data.layout=csv"}),
            "chexbench --config peers-input --set 'data.root=/data/it'\\''s mine' --set "
            "data.layout=csv");
}

TEST_F(IndexReportTest, MeasuresShardsIfNoRowHasAnImageFile) {
  report_.missing.resize(report_.rows);
  EXPECT_THAT(next_step(report_, {}), HasSubstr("add the image files"));
  report_.shards = {{.split = spec::Split::all, .count = 3, .problem = "shard 1 is missing"},
                    {.format = spec::DataFormat::webdataset, .split = spec::Split::test, .count = 3, .problem = {}}};
  EXPECT_THAT(next_step(report_, {}), EndsWith(" --set data.format=webdataset --set data.split=test"));
}

// A user's own table: two patients have images in both splits, but only the column `Subject` shows it.
class OwnTableReport : public testing::Test {
 protected:
  OwnTableReport() {
    write_text(root_ / "labels.csv",
               "file,Cat,Subject,part\na.png,0,anna,train\nb.png,1,anna,test\nc.png,1,berta,train\n"
               "d.png,0,carl,test\ne.png,0,carl,train\n");
    for (const char* name : {"a.png", "b.png", "c.png", "d.png", "e.png"}) write_text(root_ / name, "1");
    spec_.root = root_.path();
    spec_.layout = spec::DataLayout::csv;
    spec_.labels.columns = "Cat";
    spec_.labels.split_column = "part";
  }
  IndexReport report() const { return report_index(storage::DataRoot(spec_)); }
  ScratchFolder root_;
  spec::DataSpec spec_;
};

TEST_F(OwnTableReport, CountsPatientsIfTheirColumnIsNamed) {
  spec_.labels.patient_column = "Subject";
  EXPECT_EQ(report().patients, 3u);
  EXPECT_THAT(*report().patients_in_both_splits, ElementsAre("anna", "carl"));
  EXPECT_THAT(index_report_text(report()), HasSubstr("\npatients_in_both_splits: 2 (anna, carl)\n"));
}

TEST_F(OwnTableReport, SaysThatPatientsAreUnknownAndWhichColumnMayNameThem) {
  EXPECT_FALSE(report().patients.has_value() || report().patients_in_both_splits.has_value());
  EXPECT_THAT(index_report_text(report()),
              AllOf(HasSubstr("\npatients: unknown (data.labels.patient_column is not set; it may be 'Subject')\n"),
                    HasSubstr("\npatients_in_both_splits: unknown (")));
}

TEST_F(OwnTableReport, NamesNoColumnIfNoneSuggestsPatients) {
  write_text(root_ / "labels.csv", "file,Cat,part\na.png,0,train\nb.png,1,test\n");
  EXPECT_THAT(index_report_text(report()), HasSubstr("\npatients: unknown (data.labels.patient_column is not set)\n"));
}

TEST_F(OwnTableReport, SaysThatImagesAreDicomFiles) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    std::filesystem::remove(root_ / (name + std::string(".png")));
    write_text(root_ / name, std::string(128, '\0') + "DICM");
  }
  EXPECT_THAT(next_step(report(), {}), AllOf(HasSubstr("export the images"), HasSubstr("a is a DICOM file")));
}

TEST_F(OwnTableReport, CountsDicomFilesWhereTheyAreRead) {
  if (!image::reads_dicom()) GTEST_SKIP() << "built without DCMTK";
  std::filesystem::rename(root_ / "a.png", root_ / "a.dcm");
  EXPECT_THAT(index_report_text(report()), HasSubstr("files.jpeg: 0\nfiles.dicom: 1\n"));
}

TEST(FolderReport, CountsFormatsAndSaysThatFoldersDoNotNamePatients) {
  const ScratchFolder root;
  write_text(root / "train/cat/a.png", "1");
  write_text(root / "test/cat/b.JPG", "123");
  const std::string text = index_report_text(report_index(root.path()));
  EXPECT_THAT(text, HasSubstr("\nfiles.png: 1\nfiles.jpeg: 1\nfile_bytes: 4\nmean_file_bytes: 2\n"));
  EXPECT_THAT(text, HasSubstr("\npatients: unknown (folders do not say"));
}

}  // namespace
}  // namespace chexbench::dataset

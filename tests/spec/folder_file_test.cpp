#include "spec/folder_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "spec/resolved.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A folder with a chexbench-data.json.
class FolderFile : public testing::Test {
 protected:
  FolderFile() { std::filesystem::create_directories(root_); }
  ~FolderFile() override { std::filesystem::remove_all(root_); }

  void write(const std::string& text) const { std::ofstream(folder_file_in(root_)) << text; }

  DataSpec data(std::vector<std::string> overrides = {}, const std::string& text = "{}") const {
    overrides.insert(overrides.begin(), "data.root=" + root_);
    return expand(parse_spec(text, "x.json", overrides)).front().spec.data;
  }
  std::string error_with(const std::string& text) const {
    write(text);
    return error_of([&] { data(); });
  }

  std::string root_ = testing::TempDir() + "folder_file_test." + std::to_string(getpid());
};

constexpr const char* kTable =
    R"({"data": {"layout": "csv", // ours
                 "labels": {"columns": ["Mass", "Nodule"], "patient_column": "who"}}})";

TEST_F(FolderFile, IsReadForItsFolder) {
  EXPECT_EQ(data().layout, DataLayout::automatic);
  write(kTable);
  EXPECT_EQ(data().layout, DataLayout::csv);
  EXPECT_EQ(data().labels.columns, "Mass,Nodule");
  EXPECT_EQ(data().labels.patient_column, "who");
  EXPECT_EQ(expand(parse_spec("{}", "x", {"data.root=elsewhere"})).front().spec.data.layout, DataLayout::automatic);
}

TEST_F(FolderFile, GivesWayToWhatASpecOrAnOverrideSays) {
  write(kTable);
  const DataSpec set = data({"data.labels.columns=Mass"});
  EXPECT_EQ(set.labels.columns, "Mass");
  EXPECT_EQ(set.labels.patient_column, "who");
  EXPECT_EQ(data({}, R"({"data": {"layout": "csv", "labels": {"patient_column": ""}}})").labels.patient_column, "");
  for (const char* layout : {"data.layout=folders", "data.layout=auto"}) {
    EXPECT_EQ(data({layout}).labels, LabelsSpec()) << layout;
  }
  EXPECT_EQ(data({"data.layout=folders"}).layout, DataLayout::folders);
}

TEST_F(FolderFile, IsReadForSweptRootsAndGivesWayToSweptKeys) {
  write(kTable);
  const std::string roots = R"({"sweep": {"data.root": ["elsewhere", ")" + root_ + R"("]}})";
  const std::vector<Trial> trials = expand(parse_spec(roots, "x.json"));
  EXPECT_EQ(trials[0].spec.data.layout, DataLayout::automatic);
  EXPECT_EQ(trials[1].spec.data.labels.columns, "Mass,Nodule");
  const std::string columns = R"({"data": {"root": ")" + root_ + R"("}, "sweep": {"data.labels.columns": ["A", "B"]}})";
  EXPECT_EQ(expand(parse_spec(columns, "x.json"))[1].spec.data.labels.columns, "B");
}

TEST_F(FolderFile, IsNotReadForWhatAReportHolds) {
  const TrialSpec before = parse_trial(R"({"data": {"root": ")" + root_ + R"("}})", "report");
  write(kTable);
  EXPECT_EQ(parse_trial(to_json(before), "report"), before);
}

TEST_F(FolderFile, NamesFileKeyAndNearestKey) {
  const std::string path = folder_file_in(root_);
  EXPECT_THAT(error_with(R"({"data": {"lables": {}}})"), AllOf(HasSubstr(path), HasSubstr("'data.labels'")));
  EXPECT_THAT(error_with(R"({"data": {"labels": {"patient_colum": "p"}}})"), HasSubstr("'data.labels.patient_column'"));
  EXPECT_THAT(error_with(R"({"layout": "csv"})"), HasSubstr("did you mean 'data.layout'"));
  EXPECT_THAT(error_with(R"({"data": {"root": "x"}})"), HasSubstr("data.root does not belong here"));
  EXPECT_THAT(error_with(R"({"engine": "none"})"), HasSubstr("engine does not belong here"));
  EXPECT_THAT(error_with(R"({"sweep": {}})"), HasSubstr("sweep does not belong here"));
  EXPECT_THAT(error_with(R"({"data": {"layout": "cvs"}})"), AllOf(HasSubstr(path), HasSubstr("'csv'")));
  EXPECT_THAT(error_with(R"({"data": {"labels": "Mass"}})"), HasSubstr("data.labels must be an object"));
  EXPECT_THAT(error_with(R"({"data": {"labels": {"columns": "A"}}})"), HasSubstr("only where data.layout is csv"));
  EXPECT_THAT(error_with("[]"), HasSubstr("must be an object"));
  EXPECT_THAT(error_with("{"), HasSubstr(path));
}

TEST_F(FolderFile, MayNotLeadOutOfItsFolder) {
  for (const char* csv : {"../x.csv", "/etc/passwd", "a/../../x.csv"}) {
    const std::string text = R"({"data": {"layout": "csv", "labels": {"csv": ")" + std::string(csv) + "\"}}}";
    EXPECT_THAT(error_with(text), HasSubstr("must be a path in the folder")) << csv;
  }
}

TEST_F(FolderFile, MustBeAFile) {
  std::filesystem::create_directory(folder_file_in(root_));
  EXPECT_THAT(error_of([&] { data(); }), HasSubstr("is not a readable file"));
}

TEST_F(FolderFile, HoldsWhatItsTextWasMadeFrom) {
  const LabelsSpec labels{.columns = "Mass,No*", .split_column = "fold"};
  write(folder_file_text(DataLayout::csv, labels));
  EXPECT_EQ(data().labels, labels);
  write(folder_file_text(DataLayout::folders, {}));
  EXPECT_EQ(data().layout, DataLayout::folders);
}

TEST_F(FolderFile, HoldsNumbersToo) {
  write(folder_file_text(DataLayout::imagenet, {.classes = 10}));
  EXPECT_EQ(data().labels.classes, 10);
  EXPECT_EQ(data({"data.labels.classes=20"}).labels.classes, 20);
}

}  // namespace
}  // namespace chexbench::spec

#include "results/read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/errors.hpp"
#include "report/json.hpp"
#include "results/record_factory.hpp"

namespace chexbench::results {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

// A folder that is removed at the end of the test.
class ReadRuns : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "chexbench-read-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  static std::string report(const std::string& experiment) {
    Report report = make_report({make_trial({}, {100})});
    report.experiment = experiment;
    return report::to_json(report);
  }
  // Returns the error message of reading `path`.
  static std::string complaint(const std::string& path) {
    try {
      read_runs(path);
    } catch (const DataError& error) {
      return error.what();
    }
    return "nothing";
  }

  fs::path folder_;
};

TEST_F(ReadRuns, TakeTheFileOrItsFolder) {
  const std::string file = put("run/report.json", report("one"));
  EXPECT_EQ(read_runs(file).at(0).experiment, "one");
  EXPECT_EQ(read_runs((folder_ / "run").string()).at(0).experiment, "one");
}

TEST_F(ReadRuns, FindEveryReportBelowAFolderInTheOrderOfTheirPaths) {
  put("all/b/report.json", report("second"));
  put("all/a/deeper/report.json", report("first"));
  put("all/a/trials.csv", "");
  const std::vector<Report> runs = read_runs((folder_ / "all").string());
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].experiment, "first");
  EXPECT_EQ(runs[1].experiment, "second");
}

TEST_F(ReadRuns, OfAFolderWithItsOwnReportTakeThatAlone) {
  put("run/report.json", report("own"));
  put("run/older/report.json", report("older"));
  EXPECT_THAT(read_runs((folder_ / "run").string()), SizeIs(1));
}

TEST_F(ReadRuns, NameTheFileThatIsDamaged) {
  const std::string whole = report("one");
  put("all/good/report.json", whole);
  const std::string torn = put("all/torn/report.json", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(complaint((folder_ / "all").string()), AllOf(HasSubstr(torn), HasSubstr("not a result of chexbench")));
  EXPECT_THAT(complaint(put("empty.json", "")), HasSubstr("not a result of chexbench"));
  EXPECT_THAT(complaint(put("other.json", "{\"schema_version\": 99}")), HasSubstr("schema_version is 99"));
}

TEST_F(ReadRuns, SayThatThereIsNothingToRead) {
  EXPECT_THAT(complaint((folder_ / "nowhere").string()), HasSubstr("No such file"));
  fs::create_directories(folder_ / "bare");
  EXPECT_THAT(complaint((folder_ / "bare").string()), AllOf(HasSubstr("bare"), HasSubstr("has a report.json")));
  fs::create_directories(folder_ / "odd/report.json");
  EXPECT_THAT(complaint((folder_ / "odd").string()), HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace chexbench::results

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/errors.hpp"
#include "report/json.hpp"
#include "report/write.hpp"
#include "results/read.hpp"
#include "results/record_factory.hpp"

namespace chexbench::results {
namespace {

using testing::HasSubstr;

class ReadReport : public testing::Test {
 protected:
  ReadReport() : folder_(testing::TempDir() + "read_report_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~ReadReport() override { std::filesystem::remove_all(folder_); }

  // Returns the error of reading as "CODE message", or "" if there is none.
  std::string error_of(const std::string& report_json) const {
    std::ofstream(folder_ + "/report.json") << report_json;
    try {
      read_report(folder_);
      return "";
    } catch (const Error& error) {
      return std::to_string(static_cast<int>(error.code())) + " " + error.what();
    }
  }

  const std::string folder_;
};

TEST_F(ReadReport, GivesBackWhatWasWritten) {
  const Report report = make_report({make_trial({}, {100, 101}), make_trial({.ranks = 2}, {180})});
  report::write_report(report, folder_);
  EXPECT_EQ(report::to_json(read_report(folder_)), report::to_json(report));
}

TEST_F(ReadReport, AFolderWithoutAReportIsAUsageError) {
  try {
    read_report(folder_);
    FAIL() << "nothing thrown";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder_ + ": there is no report.json in it"));
  }
  EXPECT_THROW(read_report(std::string(5000, 'x')), SpecError);
}

TEST_F(ReadReport, DamageAndOtherVersionsAreErrorsOfTheData) {
  const std::string whole = report::to_json(make_report({make_trial({}, {100})}));
  EXPECT_EQ(error_of(whole), "");
  EXPECT_THAT(error_of(whole.substr(0, whole.size() / 2)), HasSubstr("3 " + folder_ + "/report.json: not a result"));
  EXPECT_THAT(error_of(""), HasSubstr("3 " + folder_ + "/report.json"));
  EXPECT_THAT(error_of(R"({"schema_version": 2})"), HasSubstr("written by a newer chexbench"));
  EXPECT_THAT(error_of(R"({"schema_version": 2})"), HasSubstr("its schema_version is 2, and this chexbench reads 1"));
}

TEST_F(ReadReport, KeysOfANewerChexbenchAreIgnoredEverywhere) {
  const std::string text = report::to_json(make_report({make_trial({}, {100})}));
  std::string newer = text;
  const auto add_after = [&newer](const std::string& place, const std::string& key) {
    const std::size_t at = newer.find(place);
    ASSERT_NE(at, std::string::npos) << place;
    newer.insert(at + place.size(), key);
  };
  add_after("{", R"("from_a_newer_one": 1, )");
  for (const char* const object : {"environment", "figures", "spec", "data", "training", "measure"})
    add_after(fmt::format("\"{}\": {{", object), R"("from_a_newer_one": [{"a": null}], )");
  add_after(R"("trials": [
    {)",
            R"("from_a_newer_one": 1, )");
  add_after(R"("repeats": [
        {)",
            R"("from_a_newer_one": 1, )");
  add_after(R"("op": "list_files",)", R"("from_a_newer_one": 1, )");
  EXPECT_EQ(error_of(newer), "");
  EXPECT_EQ(report::to_json(read_report(folder_)), text);
}

TEST_F(ReadReport, WhatIsNestedTooDeepIsAnErrorOfTheData) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  const std::string head = R"({"schema_version": 1, "experiment": )";
  EXPECT_THAT(error_of(head + nested(200'000) + '}'), HasSubstr("report.json: nested more than 64 deep"));
  EXPECT_THAT(error_of(head + nested(63) + '}'), HasSubstr("type must be string"));
}

TEST_F(ReadReport, AnErrorQuotesLittleOfTheFile) {
  EXPECT_LT(error_of(R"({"schema_version": ")" + std::string(100'000, 'x') + "\"}").size(), 1000u);
  EXPECT_LT(error_of('"' + std::string(100'000, 'x')).size(), 1000u);
}

TEST(JournalFromText, NamesTheLineThatIsNestedTooDeep) {
  const std::string head = R"({"schema_version": 1, "key": "k", "repeat": {"repeat": )";
  try {
    journal_from_text(head + std::string(200'000, '[') + '\n', "journal.jsonl");
    FAIL() << "nothing thrown";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "journal.jsonl, line 1: nested more than 64 deep");
  }
}

TEST(HasResults, AsksForOneRepeat) {
  EXPECT_FALSE(has_results(make_report({})));
  EXPECT_FALSE(has_results(make_report({make_trial({}, {})})));
  EXPECT_TRUE(has_results(make_report({make_trial({}, {}), make_trial({}, {1})})));
}

namespace fs = std::filesystem;
using testing::AllOf;
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

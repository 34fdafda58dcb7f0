#include "report/write.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/errors.hpp"
#include "report/csv.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/markdown.hpp"
#include "report/other_tools.hpp"
#include "report/table.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class WriteReport : public testing::Test {
 protected:
  WriteReport() : folder_(testing::TempDir() + "write_report_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_before_);
  }
  ~WriteReport() override {
    limit_file_size(limit_before_.rlim_cur);
    std::signal(SIGXFSZ, SIG_DFL);
    std::filesystem::remove_all(folder_);
  }

  // Makes write() fail in the middle of a file, like a full disk.
  void limit_file_size(rlim_t bytes) const {
    const rlimit limit{.rlim_cur = bytes, .rlim_max = limit_before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::string content(const char* name) const {
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string folder_;
  const results::Report report_ = results::make_report({results::make_trial({}, {100, 101})});
  rlimit limit_before_{};
};

TEST_F(WriteReport, WritesItsFilesAndTellsTheirPaths) {
  EXPECT_THAT(write_report(report_, folder_),
              ElementsAre(folder_ + "/trials.csv", folder_ + "/repeats.csv", folder_ + "/steps.csv",
                          folder_ + "/ops.csv", folder_ + "/waits.csv", folder_ + "/csv-metadata.json",
                          folder_ + "/report.json", folder_ + "/report.html"));
  for (const char* table : {"trials.csv", "repeats.csv", "steps.csv", "ops.csv", "waits.csv"})
    EXPECT_EQ(content(table), csv_text(table, report_));
  EXPECT_EQ(content("csv-metadata.json"),
            csv_metadata(report_, {"trials.csv", "repeats.csv", "steps.csv", "ops.csv", "waits.csv"}));
  EXPECT_EQ(content("report.json"), to_json(report_));
  EXPECT_EQ(content("report.html"), html_page(report_));
}

TEST_F(WriteReport, KeepsTheDataWhereThePageHasNoRoom) {
  limit_file_size(html_page(report_).size() - 1);
  EXPECT_THROW(write_report(report_, folder_), OutputError);
  EXPECT_EQ(content("report.json"), to_json(report_));
  EXPECT_EQ(content("report.html"), "");
}

TEST_F(WriteReport, RemovesATableThatHasNoRowsAnyMore) {
  write_report(report_, folder_);
  write_report(results::make_report({results::make_trial({}, {})}), folder_);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/waits.csv"));
  EXPECT_THAT(content("csv-metadata.json"), testing::Not(HasSubstr("waits.csv\"")));
}

TEST_F(WriteReport, ReplacesAnEarlierReport) {
  write_report(results::make_report({results::make_trial({}, {1, 2, 3, 4, 5, 6, 7})}), folder_);
  write_report(report_, folder_);
  EXPECT_EQ(content("report.json"), to_json(report_));
}

TEST_F(WriteReport, OnAFullDiskNamesTheFileAndKeepsTheEarlierReport) {
  write_report(report_, folder_);
  std::vector<double> many(200, 100.0);
  limit_file_size(content("trials.csv").size() + 200);
  try {
    write_report(results::make_report({results::make_trial({}, many)}), folder_);
    FAIL() << "nothing thrown";
  } catch (const OutputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("repeats.csv"), HasSubstr("File too large")));
    EXPECT_EQ(error.code(), ExitCode::output);
  }
  EXPECT_EQ(content("repeats.csv"), csv_text("repeats.csv", report_));
  EXPECT_EQ(content("report.json"), to_json(report_));
}

TEST_F(WriteReport, NamesAFolderThatIsNotThere) {
  try {
    write_report(report_, folder_ + "/gone");
    FAIL() << "nothing thrown";
  } catch (const OutputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/gone/trials.csv"), HasSubstr("No such file or directory")));
  }
}

TEST_F(WriteReport, FormatsAreTheTablesAndTheFiles) {
  EXPECT_EQ(format_report(report_, "table"), result_table(report_));
  EXPECT_EQ(format_report(report_, "json"), to_json(report_));
  EXPECT_EQ(format_report(report_, "csv"), csv_text("trials.csv", report_));
  EXPECT_EQ(format_report(report_, "markdown"), markdown(report_));
  EXPECT_EQ(format_report(report_, "html"), html_page(report_));
  EXPECT_EQ(format_report(report_, "bencher"), bencher_json(report_));
  EXPECT_EQ(format_report(report_, "google-benchmark"), google_benchmark_json(report_));
}

TEST_F(WriteReport, SuggestsTheNearestFormat) {
  try {
    format_report(report_, "jsn");
    FAIL() << "nothing thrown";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'json'?"));
  }
}

}  // namespace
}  // namespace chexbench::report

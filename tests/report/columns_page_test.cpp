// apps/chexbench/reference/columns.md against the columns of the CSV files.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/csv.hpp"

namespace chexbench::report {
namespace {

constexpr const char* kPage = CHEXBENCH_GOLDEN "/../../apps/chexbench/reference/columns.md";

std::string page_table_of(const nlohmann::json& file) {
  std::string text = "\n## " + file["url"].get<std::string>() + "\n\n" + file["dc:description"].get<std::string>() +
                     "\n\n| column | unit | type | what it is |\n|---|---|---|---|\n";
  for (const auto& column : file["tableSchema"]["columns"]) {
    text += "| " + column["titles"].get<std::string>() + " | " + column.value("schema:unitText", "") + " | " +
            column["datatype"].get<std::string>() + " | " + column["dc:description"].get<std::string>() + " |\n";
  }
  return text;
}

TEST(ColumnsPage, HasWhatTheFilesSayOfTheirColumns) {
  std::vector<std::string> names;
  for (const CsvFile& file : csv_files()) names.emplace_back(file.name);
  std::ifstream page(kPage);
  std::stringstream written;
  written << page.rdbuf();
  const std::string head = written.str().substr(0, written.str().find("\n## "));
  std::string expected = head;
  const auto metadata = nlohmann::json::parse(csv_metadata({}, names));
  for (const auto& file : metadata["tables"]) expected += page_table_of(file);
  if (written.str() == expected) return;
  const std::string made = testing::TempDir() + "columns.md";
  std::ofstream(made) << expected;
  FAIL() << "the columns changed: cp " << made << " " << kPage;
}

}  // namespace
}  // namespace chexbench::report

// apps/chexbench/reference/columns.md against the columns of the CSV files.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "report/csv.hpp"

namespace chexbench::report {
namespace {

constexpr const char* kPage = CHEXBENCH_GOLDEN "/../../apps/chexbench/reference/columns.md";
constexpr std::string_view kHead = "| column | what it is |\n|---|---|\n";
constexpr std::string_view kLow = "_ci95_low";

// The text at the top of the page, once.
constexpr std::string_view kSaidAtTheTop[] = {
    ", or the run ended before the trial",
    " Empty if the run ended before the trial.",
    " Empty if the GPU does not report it.",
    " Empty if the GPU reports no reasons.",
    " Empty if no GPU reported it.",
    " Empty if no GPU reported its power.",
    " Empty if the GPU or its driver has no GPM metrics.",
    " Empty if no GPU has GPM metrics.",
    " Empty if the batches are ready-made.",
    " Empty if it did not train over epochs.",
    " Empty if it did not train over epochs, or no label has an AUROC.",
    " Empty if it did not train exclusive classes over epochs.",
    " Empty if training.task is not classes.",
    ", by bootstrap",
    ": mean over samples, GPUs and repeats",
    " over patients",
};

struct Row {
  std::string name;
  std::string unit;     // empty if the name has it
  std::string meaning;  // without `empty`
  std::string empty;    // " Empty if ..."

  std::string cell() const { return unit.empty() ? name : fmt::format("{} ({})", name, unit); }
  auto operator<=>(const Row&) const = default;
};

std::string with(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

Row row_of(const nlohmann::json& column) {
  Row row{column["titles"], column.value("schema:unitText", ""), column["dc:description"], ""};
  std::string said = with(row.unit, "/", "_per_");
  std::ranges::transform(said, said.begin(), [](unsigned char c) { return std::tolower(c); });
  if (row.unit == "1" || row.name.find(said) != std::string::npos) row.unit = "";
  for (const std::string_view text : kSaidAtTheTop) row.meaning = with(row.meaning, text, "");
  if (const auto at = row.meaning.find(" Empty if "); at != std::string::npos) {
    row.empty = row.meaning.substr(at);
    row.meaning.resize(at);
  }
  return row;
}

// The rows of one file that no other has. The ends of an interval share one, or have none if they are empty where
// their figure is; what repeats the row before is shortened.
std::string own_rows(const std::vector<Row>& rows) {
  std::string text;
  Row last;
  std::map<std::string, std::string> empty;
  for (Row row : rows) {
    if (row.name.ends_with("_ci95_high")) continue;
    empty[row.name] = row.empty;
    if (row.name.ends_with(kLow)) {
      if (empty[row.name.substr(0, row.name.size() - kLow.size())] == row.empty) continue;
      row.name += ", _high";
      row.meaning = with(row.meaning, "Lower end of the 95", "95");
    }
    const Row shown = row;
    const std::string subject = row.meaning.substr(0, row.meaning.find(": ") + 1);
    if (subject.size() > 10 && last.meaning.starts_with(subject)) row.meaning.replace(0, subject.size() - 1, "…");
    if (!row.empty.empty() && row.empty == last.empty) row.empty = " Empty likewise.";
    text += fmt::format("| {} | {}{} |\n", row.cell(), row.meaning, row.empty);
    last = shown;
  }
  return text;
}

std::string tables_of(const nlohmann::json& metadata) {
  std::vector<std::pair<std::string, std::vector<Row>>> files;
  std::map<Row, int> uses;
  std::vector<Row> shared;
  for (const auto& file : metadata["tables"]) {
    auto& [heading, rows] = files.emplace_back(
        fmt::format("\n## {}\n\n{}\n\n", file["url"].get<std::string>(), file["dc:description"].get<std::string>()),
        std::vector<Row>());
    for (const auto& column : file["tableSchema"]["columns"]) {
      const Row row = row_of(column);
      rows.push_back(row);
      const bool named_alike = std::ranges::any_of(shared, [&row](const Row& other) { return other.name == row.name; });
      if (++uses[row] == 2 && !named_alike && row.name.find("_ci95_") == std::string::npos) shared.push_back(row);
    }
  }
  std::string text = fmt::format("\n## Columns of several files\n\n{}", kHead);
  for (const Row& row : shared) text += fmt::format("| {} | {}{} |\n", row.cell(), row.meaning, row.empty);
  for (const auto& [heading, rows] : files) {
    std::vector<Row> own;
    std::vector<std::string> others;
    for (const Row& row : rows) {
      if (std::ranges::find(shared, row) == shared.end())
        own.push_back(row);
      else
        others.push_back(row.name);
    }
    text += fmt::format("{}{}| {} | as above |\n{}", heading, kHead, fmt::join(others, ", "), own_rows(own));
  }
  return text;
}

TEST(ColumnsPage, HasWhatTheFilesSayOfTheirColumns) {
  std::vector<std::string> names;
  for (const CsvFile& file : csv_files()) names.emplace_back(file.name);
  std::ifstream page(kPage);
  std::stringstream written;
  written << page.rdbuf();
  const std::string expected =
      written.str().substr(0, written.str().find("\n## ")) + tables_of(nlohmann::json::parse(csv_metadata({}, names)));
  if (written.str() == expected) return;
  const std::string made = testing::TempDir() + "columns.md";
  std::ofstream(made) << expected;
  FAIL() << "the columns changed: cp " << made << " " << kPage;
}

}  // namespace
}  // namespace chexbench::report

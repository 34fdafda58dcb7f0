#include "report/markdown.hpp"

#include <fmt/format.h>

#include <cctype>
#include <vector>

#include "report/result_tables.hpp"
#include "results/labels.hpp"
#include "results/read.hpp"

namespace chexbench::report {
namespace {

bool in_word(std::string_view text, std::size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

// Returns whether the character has a meaning in Markdown. An underscore inside a word has none, so that map_and_batch
// stays readable if the Markdown is read as text.
bool has_meaning(std::string_view text, std::size_t at) {
  if (text[at] == '_') return !in_word(text, at - 1) || !in_word(text, at + 1);
  return std::string_view("\\`*[]|<>~").find(text[at]) != std::string_view::npos;
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += fmt::format(" {} |", cell);
  return line + '\n';
}

std::string table_of(const TextTable& table) {
  const std::vector<std::size_t> shown = shown_columns(table);
  const auto row = [&](const std::vector<std::string>& cells) {
    std::vector<std::string> escaped;
    for (const std::size_t column : shown) escaped.push_back(markdown_escaped(cells[column]));
    return line_of(escaped);
  };
  std::vector<std::string> alignment;
  for (const std::size_t column : shown) alignment.emplace_back(stands_left(table, column) ? "---" : "---:");
  std::string text = row(table.header) + line_of(alignment);
  for (const auto& cells : table.rows) text += row(cells);
  return text;
}

std::string list_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("- {}\n", markdown_escaped(line));
  return text;
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r') {
      escaped += ' ';
      continue;
    }
    if (has_meaning(text, i)) escaped += '\\';
    escaped += text[i];
  }
  return escaped;
}

std::string markdown(const results::Report& report) {
  const ResultTables tables = result_tables(report);
  std::string text = fmt::format("## chexbench: {}\n\n{}", markdown_escaped(report.experiment), list_of(tables.title));
  if (!results::has_results(report)) return text + "\nNothing was measured.\n";
  std::vector<std::string> findings;
  for (const results::Finding& finding : report.findings) findings.push_back(results::graded_text(finding));
  if (!findings.empty()) text += fmt::format("\n### Findings\n\n{}", list_of(findings));
  text += fmt::format("\n### Trials\n\n{}", table_of(tables.figures));
  if (!tables.notes.empty()) text += fmt::format("\n{}", list_of(tables.notes));
  for (const AblationTable& ablation : tables.ablations) {
    text += fmt::format("\n### Step by step over {}\n\nImages/s, {}:\n\n{}", markdown_escaped(ablation.over),
                        kAblationCaption, table_of(ablation.steps));
  }
  if (!tables.learning.rows.empty()) {
    text += fmt::format("\n### What was learned\n\n{}\n\n{}", kLearningCaption, table_of(tables.learning));
  }
  return text + fmt::format("\n### Where the time went\n\n{}\n\n{}", kTimesCaption, table_of(tables.times));
}

}  // namespace chexbench::report

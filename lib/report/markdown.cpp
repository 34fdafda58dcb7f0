#include "report/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "analysis/answer.hpp"
#include "analysis/commands.hpp"
#include "core/printable.hpp"
#include "report/result_tables.hpp"
#include "results/labels.hpp"
#include "results/read.hpp"

namespace chexbench::report {
namespace {

bool in_word(std::string_view text, std::size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

// Returns whether the character is special in Markdown. An underscore inside a word is not, so map_and_batch stays
// readable in the source.
bool has_meaning(std::string_view text, std::size_t at) {
  if (text[at] == '_') return !in_word(text, at - 1) || !in_word(text, at + 1);
  if (text[at] == '#') return at == 0 || text[at - 1] == ' ';
  if (text[at] == '&') return in_word(text, at + 1) || text.substr(at + 1).starts_with('#');
  return std::string_view("\\`*[]|<>~$").find(text[at]) != std::string_view::npos;
}

std::string table_of(const TextTable& table) {
  const std::vector<std::size_t> shown = shown_columns(table);
  const auto row = [&](const std::vector<std::string>& cells) {
    std::vector<std::string> of_shown;
    for (const std::size_t column : shown) of_shown.push_back(cells[column]);
    return markdown_row(of_shown);
  };
  std::vector<std::string> alignment;
  for (const std::size_t column : shown) alignment.emplace_back(stands_left(table, column) ? "---" : "---:");
  std::string text = row(table.header) + markdown_row(alignment);
  for (const auto& cells : table.rows) text += row(cells);
  return text;
}

std::string list_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("- {}\n", markdown_line(line));
  return text;
}

// Returns the command as code, so that it can be copied. The fence consists of tildes, because the command may contain
// backticks.
std::string code_of(const std::string& command) {
  return fmt::format("\n~~~sh\n{}\n~~~\n", printable(command, command.max_size()));
}

// Returns the lines of the answer as a list, and its command below them.
std::string answer_section(const analysis::Evaluation& evaluation, const std::string& folder) {
  analysis::Answer answer = analysis::derive_answer(evaluation);
  const bool ends_in_command = !answer.command.empty() && answer.lines.back() == answer.command;
  if (ends_in_command) answer.lines.pop_back();
  return list_of(answer.lines) + (ends_in_command ? code_of(analysis::with_folder(folder, answer.command)) : "");
}

std::string findings_section(const results::Report& report) {
  std::vector<std::string> findings;
  for (const results::Finding& finding : report.findings) findings.push_back(results::graded_text(finding));
  return findings.empty() ? "" : fmt::format("\n### Findings\n\n{}", list_of(findings));
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  line = printable_lines(line);
  std::string escaped;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (has_meaning(line, i)) escaped += '\\';
    escaped += line[i];
  }
  return escaped;
}

std::string markdown_line(std::string_view text) {
  std::string line = markdown_escaped(text);
  const std::size_t mark = std::min(line.find_first_not_of("0123456789"), line.size());
  const std::string_view marks = mark == 0 ? "+-=" : ".)";
  if (mark < line.size() && marks.find(line[mark]) != std::string_view::npos) line.insert(mark, 1, '\\');
  return line;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += fmt::format(" {} |", markdown_escaped(cell));
  return line + '\n';
}

std::string markdown(const analysis::Evaluation& evaluation, const std::string& folder) {
  const results::Report& report = evaluation.report;
  const ResultTables tables = result_tables(evaluation);
  const std::string title = fmt::format("## chexbench: {}\n", markdown_escaped(report.experiment));
  if (!results::has_results(report))
    return fmt::format("{}\n{}\nNothing was measured.\n", title, list_of(tables.title));
  std::string text = fmt::format("{}\n{}\n### Trials\n\n{}\n{}", title, answer_section(evaluation, folder),
                                 list_of(tables.title), table_of(tables.figures));
  if (!tables.notes.empty()) text += fmt::format("\n{}", list_of(tables.notes));
  text += findings_section(report);
  for (const AblationTable& ablation : tables.ablations) {
    text += fmt::format("\n### Step by step over {}\n\nImages/s, {}:\n\n{}", markdown_escaped(ablation.over),
                        kAblationCaption, table_of(ablation.steps));
  }
  if (!tables.learning.rows.empty()) {
    text += fmt::format("\n### What was learned\n\n{}\n\n{}", kLearningCaption, table_of(tables.learning));
  }
  if (!tables.two_jobs.rows.empty()) {
    text += fmt::format("\n### Two jobs on one host\n\n{}\n\n{}", kTwoJobsCaption, table_of(tables.two_jobs));
  }
  return text + fmt::format("\n### Where the time went\n\n{}\n\n{}", kTimesCaption, table_of(tables.times));
}

}  // namespace chexbench::report

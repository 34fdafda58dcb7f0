#include "report/table.hpp"

#include <fmt/format.h>

#include "core/printable.hpp"
#include "report/result_tables.hpp"
#include "results/labels.hpp"

namespace chexbench::report {
namespace {

std::string lines_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += shown_line(line);
  return text;
}

std::string ablation_lines(const std::vector<AblationTable>& ablations) {
  std::string text;
  for (const AblationTable& ablation : ablations) {
    text += fmt::format("Step by step over {}; {}:\n{}\n", printable(ablation.over), kAblationCaption,
                        render(ablation.steps));
  }
  return text;
}

std::string learning_lines(const TextTable& learning) {
  return learning.rows.empty() ? "" : fmt::format("{}\n{}\n", kLearningCaption, render(learning));
}

std::string findings_list(const results::Report& report) {
  std::string text = report.findings.empty() ? "" : "\nFindings:\n";
  for (const results::Finding& finding : report.findings) text += "- " + shown_line(results::graded_text(finding));
  return text;
}

}  // namespace

std::string result_table(const results::Report& report) {
  const ResultTables tables = result_tables(report);
  if (report.trials.empty()) return lines_of(tables.title) + "no trial was measured\n";
  return lines_of(tables.title) + "\n" + render(tables.figures) + lines_of(tables.notes) + "\n" +
         ablation_lines(tables.ablations) + learning_lines(tables.learning) + kTimesCaption + "\n" +
         render(tables.times) + findings_list(report);
}

}  // namespace chexbench::report

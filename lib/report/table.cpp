#include "report/table.hpp"

#include "report/result_tables.hpp"

namespace chexbench::report {
namespace {

std::string lines_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string findings_list(const Report& report) {
  std::string text = report.findings.empty() ? "" : "\nFindings:\n";
  for (const Finding& finding : report.findings) text += "- " + finding.text + "\n";
  return text;
}

}  // namespace

std::string result_table(const Report& report) {
  const ResultTables tables = result_tables(report);
  if (report.trials.empty()) return lines_of(tables.title) + "no trial was measured\n";
  return lines_of(tables.title) + "\n" + render(tables.figures) + lines_of(tables.notes) + "\n" + kTimesCaption + "\n" +
         render(tables.times) + findings_list(report);
}

}  // namespace chexbench::report

#include "report/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/errors.hpp"
#include "core/output_file.hpp"
#include "core/printable.hpp"
#include "report/csv.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/markdown.hpp"
#include "report/other_tools.hpp"
#include "report/trace.hpp"

namespace chexbench::report {

std::vector<std::string> write_report(const analysis::Evaluation& evaluation, const std::string& folder) {
  const results::Report& report = evaluation.report;
  std::vector<std::string> paths, tables;
  const auto write = [&](const char* name, const std::string& text) {
    paths.push_back(folder + "/" + name);
    write_file_atomically(paths.back(), text);
  };
  for (const CsvFile& file : csv_files()) {
    const std::string text = csv_text(file.name, evaluation);
    if (text.empty()) {
      std::error_code error;  // it usually never existed
      std::filesystem::remove(folder + "/" + file.name, error);
      continue;
    }
    write(file.name, text);
    tables.emplace_back(file.name);
  }
  write("csv-metadata.json", csv_metadata(report, tables));
  write("report.json", to_json(evaluation));    // after the CSV files, so they exist whenever it does
  write("report.html", html_page(evaluation));  // after the data, which are more important if the disk is full
  if (has_trace(report)) {
    paths.push_back(folder + "/trace.json");
    write_file_atomically(paths.back(), [&report](const WritePiece& piece) { write_trace(report, piece); });
  }
  return paths;
}

std::string write_mllog(const results::Report& report, const std::string& folder) {
  std::string path = folder + "/mllog.txt";
  write_file_atomically(path, mllog_text(report));
  return path;
}

const std::vector<std::string>& report_formats() {
  static const std::vector<std::string> kFormats{"html",    "markdown",         "table", "json", "csv",
                                                 "bencher", "google-benchmark", "dlio"};
  return kFormats;
}

void check_report_format(const std::string& format) {
  const std::vector<std::string>& known = report_formats();
  if (std::ranges::find(known, format) != known.end()) return;
  throw SpecError(fmt::format("--format: unknown format '{}'{}", printable(format), suggestion(format, known)));
}

std::string format_report(const analysis::Evaluation& evaluation, const std::string& format,
                          const TableOptions& options) {
  check_report_format(format);
  if (format == "table") return result_table(evaluation, options);
  if (format == "json") return to_json(evaluation);
  if (format == "csv") return csv_text("trials.csv", evaluation);
  if (format == "markdown") return markdown(evaluation, options.folder);
  if (format == "bencher") return bencher_json(evaluation);
  if (format == "google-benchmark") return google_benchmark_json(evaluation.report);
  if (format == "dlio") return dlio_summary_json(evaluation.report);
  return html_page(evaluation);
}

}  // namespace chexbench::report

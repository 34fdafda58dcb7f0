#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report/write.hpp"
#include "results/read.hpp"

namespace chexbench::app {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::string run;
  std::string format;  // html by default, or table with --findings
  std::string findings;
  std::string output;
  bool explain = false;
};

// Returns whether a form or a file was requested. If not, the report takes the form of the run's own result.
bool asks_for_a_form(const ReportArguments& arguments) {
  return !arguments.format.empty() || !arguments.findings.empty() || !arguments.output.empty();
}

void run(const ReportArguments& arguments) {
  const std::string default_format = arguments.findings.empty() ? "html" : "table";
  const std::string format = arguments.format.empty() ? default_format : arguments.format;
  report::check_report_format(format);
  const std::string file = results::report_file(arguments.run);
  const results::Report report = results::read_report(file);
  if (!results::has_results(report)) {
    throw DataError(fmt::format("{} has no measured trial, so there is nothing to report", file));
  }
  const analysis::Evaluation evaluation(report);
  const fs::path parent = fs::path(file).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  report::TableOptions options = table_options(arguments.findings, format, folder, arguments.explain);
  if (arguments.output.empty() && format == "table")
    return print_result(evaluation, arguments.findings, folder, arguments.explain);
  if (!asks_for_a_form(arguments)) print_result(evaluation, "", folder, arguments.explain);
  if (!arguments.output.empty()) options.colour = false, options.width = kWidestLine;
  const std::string text = report::format_report(evaluation, format, options);
  std::string path = arguments.output;
  if (path.empty() && format == "html") {
    path = fs::path(file).replace_filename("report.html").string();
  }
  if (path.empty()) return print(text, format);
  write_file_atomically(path, text);
  log::info("wrote {}", path);
}

}  // namespace

void add_report_command(CLI::App& app) {
  const auto arguments = std::make_shared<ReportArguments>();
  CLI::App* const verb = app.add_subcommand("report", "Reprints the result of an earlier run, also in other formats.");
  verb->add_option("DIR", arguments->run, "Read the results of the run from this folder, or from its report.json.")
      ->required()
      ->type_name("RUN");
  verb->add_option("--format", arguments->format,
                   "Write only this format; html goes to DIR/report.html, the others to stdout.")
      ->type_name(fmt::format("TEXT:{{{}}}", fmt::join(report::report_formats(), ",")));
  add_findings_option(*verb, arguments->findings);
  verb->add_flag("--explain", arguments->explain, "Print all figures, what they mean, and advice for each finding.");
  verb->add_option("-o,--output", arguments->output, "Write to this file instead.")->type_name("FILE");
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace chexbench::app

#include "report_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "findings_option.hpp"
#include "output.hpp"
#include "report/write.hpp"
#include "results/read.hpp"

namespace chexbench::app {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::string run;
  std::string format;  // html unless stated, or table if findings are asked for
  std::string findings;
  std::string output;
};

void run(const ReportArguments& arguments) {
  const std::string default_format = arguments.findings.empty() ? "html" : "table";
  const std::string format = arguments.format.empty() ? default_format : arguments.format;
  report::check_report_format(format);
  const std::string file = results::report_file(arguments.run);
  const results::Report report = results::read_report(file);
  if (!results::has_results(report)) {
    throw DataError(fmt::format("{} has no measured trial, so there is nothing to report", file));
  }
  const fs::path folder = fs::path(file).parent_path();
  report::TableOptions options = table_options(arguments.findings, format, folder.empty() ? "." : folder.string());
  if (!arguments.output.empty()) options = {.findings = options.findings, .folder = options.folder};
  const std::string text = report::format_report(report, format, options);
  std::string path = arguments.output;
  if (path.empty() && format == "html") {
    path = fs::path(file).replace_filename("report.html").string();
  }
  if (path.empty()) return format == "table" ? print_shown(text) : print(text, format);
  write_file_atomically(path, text);
  log::info("wrote {}", path);
}

}  // namespace

void add_report_command(CLI::App& app) {
  const auto arguments = std::make_shared<ReportArguments>();
  CLI::App* const verb = app.add_subcommand(
      "report", "Write the report.html of an earlier run again, or print its result in another format.");
  verb->add_option("DIR", arguments->run, "Read the results of the run from this folder, or from its report.json.")
      ->required()
      ->type_name("RUN");
  verb->add_option("--format", arguments->format,
                   "Use this format; html, the default, is written to DIR/report.html, the others to stdout.")
      ->type_name(fmt::format("TEXT:{{{}}}", fmt::join(report::report_formats(), ",")));
  add_findings_option(*verb, arguments->findings);
  verb->add_option("-o,--output", arguments->output, "Write to this file instead.")->type_name("FILE");
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace chexbench::app

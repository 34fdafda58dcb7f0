#include "findings_option.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "output.hpp"

namespace chexbench::app {
namespace {

constexpr const char* kAll = "all";

// Returns whether an environment variable is set and not empty.
bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// https://no-color.org: NO_COLOR with any value asks for none.
bool wants_colour() {
  const char* const terminal = std::getenv("TERM");
  return !is_set("NO_COLOR") && is_set("TERM") && std::string_view(terminal) != "dumb";
}

std::string fault_in(const std::string& findings) {
  if (findings == kAll || parse_number<std::size_t>(findings)) return "";
  return "it is `all` or a number of findings, not '" + findings + "'";
}

}  // namespace

CLI::Option* add_findings_option(CLI::App& verb, std::string& findings) {
  return verb
      .add_option("--findings", findings,
                  fmt::format("Print this many findings below the table, those that cost most first, or `all`; "
                              "report.json and report.html have all of them (default: {}).",
                              report::kToldFindings))
      ->check(CLI::Validator(fault_in, ""))
      ->type_name("N|all");
}

report::TableOptions table_options(const std::string& findings, const std::string& format, const std::string& folder) {
  if (!findings.empty() && format != "table") {
    throw SpecError(fmt::format("--findings belongs to --format table, not to {}", format));
  }
  report::TableOptions options{.folder = folder};
  if (findings == kAll) {
    options.findings.reset();
  } else if (!findings.empty()) {
    options.findings = parse_number<std::size_t>(findings);
  }
  options.width = stdout_width();
  options.colour = stdout_is_terminal() && wants_colour();
  return options;
}

void print_result(const analysis::Evaluation& evaluation, const std::string& findings, const std::string& folder) {
  print_shown(report::result_table(evaluation, table_options(findings, "table", folder)));
}

}  // namespace chexbench::app

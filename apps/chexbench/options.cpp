#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "output.hpp"
#include "spec/parse.hpp"
#include "spec/sweep.hpp"

namespace chexbench::app {

void add_format_option(CLI::App& verb, std::string& format, const std::vector<std::string>& formats) {
  const auto older_name = [](const std::string& name) { return name == "text" ? std::string("table") : name; };
  verb.add_option("--format", format, "Write the result to stdout in this format.")
      ->check(CLI::IsMember(formats))
      ->transform(older_name)
      ->capture_default_str();
}

CLI::Option* add_set_option(CLI::App& verb, std::vector<std::string>& overrides, const std::string& description) {
  return verb.add_option("--set", overrides, description)->type_name("KEY=VALUE")->allow_extra_args(false);
}

void add_shared_gpu_flag(CLI::App& verb, bool& allowed, const std::string& warning) {
  verb.add_flag("--allow-shared-gpu", allowed, "Let several ranks share one GPU; only " + warning);
}

CLI::Option* add_ranks_list(CLI::App& verb, std::vector<int>& ranks, const std::string& description) {
  return verb.add_option("--ranks", ranks, description)->delimiter(',')->type_name("N,...");
}

CLI::Option* add_rank_count(CLI::App& verb, const std::string& name, std::optional<int>& ranks, int most,
                            const std::string& description, const std::string& instead) {
  const auto refuse_list = [instead](const std::string& text) {
    return text.find(',') == std::string::npos ? "" : "it is one number, not the list " + text + "; " + instead;
  };
  return verb.add_option(name, ranks, description)
      ->check(CLI::Validator(refuse_list, ""))
      ->check(CLI::Range(1, most).description(""))
      ->type_name("N");
}

void require_choice(const CLI::Option& option, bool is_made, const std::string& choice) {
  if (!option.empty() && !is_made) throw CLI::RequiresError(option.get_name(), choice);
}

namespace {

bool is_of_store(const std::string& override) { return override.starts_with("store."); }

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

std::vector<std::string> DataSetArguments::store_overrides() const {
  std::vector<std::string> kept;
  std::ranges::copy_if(overrides, std::back_inserter(kept), is_of_store);
  return kept;
}

std::vector<std::string> DataSetArguments::layout_overrides() const {
  std::vector<std::string> kept = overrides;
  std::erase_if(kept, is_of_store);
  return kept;
}

spec::DataSpec DataSetArguments::spec() const {
  std::vector<std::string> all = {spec::text_override("data.root", root)};
  for (const std::string& override : overrides) {
    if (!override.starts_with("data.layout=") && !override.starts_with("data.labels.") && !is_of_store(override)) {
      throw SpecError(fmt::format("--set {}: only data.layout, data.labels and store apply here", override));
    }
    all.push_back(override);
  }
  return spec::expand(spec::parse_spec("{}", "--set", all)).front().spec.data;
}

std::shared_ptr<DataSetArguments> add_data_set(CLI::App& verb, const std::string& name) {
  auto arguments = std::make_shared<DataSetArguments>();
  verb.add_option(name, arguments->root, "Read the data set in this folder or at this URL.")
      ->required()
      ->type_name("ROOT");
  add_set_option(
      verb, arguments->overrides,
      "Set a key of the data set's layout, e.g. --set data.layout=csv --set data.labels.columns='Mass,Nodule'.");
  return arguments;
}

CLI::Option* add_findings_option(CLI::App& verb, std::string& findings) {
  return verb
      .add_option("--findings", findings,
                  fmt::format("Print this many findings, the costliest first, or `all` (default: up to {}). "
                              "report.html shows them all.",
                              report::kToldFindings))
      ->check(CLI::Validator(fault_in, ""))
      ->type_name("N|all");
}

report::TableOptions table_options(const std::string& findings, const std::string& format, const std::string& folder,
                                   bool explain) {
  if (!findings.empty() && format != "table") {
    throw SpecError(fmt::format("--findings belongs to --format table, not to {}", format));
  }
  report::TableOptions options{.brief = !explain, .folder = folder};
  options.whole_findings = !findings.empty();
  if (findings == kAll) {
    options.findings.reset();
  } else if (!findings.empty()) {
    options.findings = parse_number<std::size_t>(findings);
  }
  options.width = stdout_width();
  options.colour = stdout_is_terminal() && wants_colour();
  return options;
}

void print_result(const analysis::Evaluation& evaluation, const std::string& findings, const std::string& folder,
                  bool explain) {
  print_shown(report::result_table(evaluation, table_options(findings, "table", folder, explain)));
}

}  // namespace chexbench::app

#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/folder.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"

namespace chexbench::app {
namespace {

// The end of a verb's help.
constexpr std::array<std::pair<const char*, const char*>, 10> kExamples = {
    {{"probe", "  chexbench /data/nih\n  chexbench /data/nih --gpu h100,a100 --time 30\n"},
     {"advise", "  chexbench advise --config peers-input --set data.root=/data/nih --set pipeline=naive\n"},
     {"report", "  chexbench report results/naive-vs-optimized/TIME --explain\n"},
     {"compare", "  chexbench compare results/before results/after\n"},
     {"predict", "  chexbench predict --report RUN --accelerator v100 --for-ranks 64\n"},
     {"diagnose", "  chexbench diagnose steps.csv\n  chexbench diagnose trace.json --batch 256\n"},
     {"evaluate",
      "  chexbench evaluate --checkpoint FILE --data /data/nih\n"
      "  chexbench evaluate --checkpoint FILE chest.png\n"},
     {"data", "  chexbench data index /data/nih\n  chexbench data convert /data/nih --split all --to cached\n"},
     {"doctor", "  chexbench doctor --data /data/nih\n  mpirun -np 4 chexbench doctor\n"},
     {"model", "  chexbench model resnet50 --roofline v100 --precision fp16\n"}}};

// Returns the verb that was being parsed when the error occurred: the innermost one given.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : innermost(*named.front());
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  return names;
}

enum class Verbs { all, listed };  // in --help

std::vector<std::string> verb_names(const CLI::App& app, Verbs which) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (which == Verbs::all || !verb->get_group().empty()) names.push_back(verb->get_name());
  }
  return names;
}

// Returns the verb as the user types it, e.g. "chexbench data synth".
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string first_unknown(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining(true);
  return unknown.empty() ? "" : unknown.front();
}

bool is_verb(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> verbs = verb_names(app, Verbs::all);
  return std::ranges::find(verbs, word) != verbs.end();
}

// Returns the names of the folders in the working directory; after an error, those read so far.
std::vector<std::string> folders_here() {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(".", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code none;  // an entry that cannot be examined is not suggested
    if (entry->is_directory(none)) names.push_back(entry->path().filename().string());
  }
  return names;
}

// Returns the first word after --set without '=', or "".
std::string key_without_value(const CLI::App& app) {
  for (const std::string& word : app.get_option("--set")->results()) {
    if (word.find('=') == std::string::npos) return word;
  }
  return "";
}

// Returns the message for a word or an option of the command line that `verb` does not know.
std::string explain_unknown(const std::string& unknown, const CLI::App& verb) {
  const bool option = unknown.starts_with("-");
  if (!option && unknown.ends_with(".json") && verb.get_parent() == nullptr) {
    return fmt::format("'{}' is not a command; `chexbench --config {}` runs the experiment of a file",
                       printable(unknown), printable(unknown));
  }
  if (option || verb.get_parent() != nullptr) {
    return fmt::format("unknown {} '{}'{}", option ? "option" : "command", unknown,
                       suggestion(unknown, option ? option_names(verb) : verb_names(verb, Verbs::listed)));
  }
  std::error_code error;
  if (const std::string key = key_without_value(verb); !key.empty()) {
    return fmt::format("--set {}: give KEY=VALUE as one word, as in --set {}", printable(key),
                       shell_word(key + "=" + unknown));
  }
  if (std::filesystem::exists(unknown, error)) {
    return fmt::format("the options for a folder come after it: chexbench {} [OPTION]...", shell_word(unknown));
  }
  // An unknown command may also be a misspelt folder.
  const std::vector<std::string> listed = verb_names(verb, Verbs::listed);
  std::vector<std::string> names = listed;
  const std::vector<std::string> folders = folders_here();
  // A shell splits a name with blanks into several words.
  const auto begun = std::ranges::find_if(folders, [&](const auto& name) { return name.starts_with(unknown + " "); });
  if (begun != folders.end()) {
    return fmt::format("unknown command '{}', and no folder of that name (did you mean {}?)", printable(unknown),
                       shell_word(*begun));
  }
  names.insert(names.end(), folders.begin(), folders.end());
  const std::string nearest = nearest_name(unknown, names);
  return fmt::format("unknown command '{}', and no folder of that name{}", printable(unknown),
                     suggestion(unknown, nearest.empty() ? listed : names));
}

// Returns whether the first word names a data set rather than a command: `chexbench DIR` is `chexbench probe DIR`.
bool names_data_set(const CLI::App& app, const std::string& word) {
  if (word.empty() || word.starts_with("-") || word.ends_with(".json") || is_verb(app, word)) return false;
  std::error_code error;
  return word.find('/') != std::string::npos || std::filesystem::exists(word, error);
}

// Returns a word with the home folder in place of a "~" that the shell did not expand: in quotes, or after an option's
// '='.
std::string with_home_in(const std::string& word) {
  const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  const std::string value = equals == std::string::npos ? word : word.substr(equals + 1);
  if (value != "~" && value.find('/') == std::string::npos) return word;  // "~10" is not a path
  if (equals == std::string::npos) return with_home(word, "a path");
  return word.substr(0, equals + 1) + with_home(value, printable(word.substr(0, equals)));
}

// A folder may have the name of a command, often `data`.
void tell_of_folder(const CLI::App& app, const std::string& word) {
  std::error_code error;
  if (!is_verb(app, word) && !is_verb(*app.get_subcommand("dev"), word)) return;
  if (!std::filesystem::is_directory(word, error)) return;
  log::info("'{}' is a command; to measure the folder of that name: chexbench ./{}", word, word);
}

}  // namespace

void describe(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line) {
  app.description(
      "Measures how many images/s a machine delivers, which accelerators that rate keeps busy, what\n"
      "limits it, and what would fix it.\n"
      "  chexbench DIR                                                an answer about a folder in a minute\n"
      "  chexbench --config naive-vs-optimized --set data.root=DIR    a built-in experiment\n"
      "  mpirun --map-by socket -np 2 chexbench --config spec.json    an experiment on two ranks");
  app.name("chexbench");
  app.get_formatter()->column_width(26);  // 74 remain for descriptions
  app.set_version_flag("--version", CHEXBENCH_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "`chexbench COMMAND --help` lists the options of a command.\n"
      "Exit codes: 0 ok, 1 internal, 2 spec or usage, 3 data, 4 device or communication, 5 comparison or\n"
      "selftest failed, 6 output, 7 not in --vary, 130 interrupted, 141 output closed,\n"
      "143 terminated.");
  add_run_options(app, session, command_line);
  add_probe_command(app, session, command_line);
  add_advise_command(app, session);
  add_report_command(app);
  add_compare_command(app);
  add_predict_command(app);
  add_diagnose_command(app);
  add_evaluate_command(app, session);
  add_data_commands(app);
  add_import_commands(app);
  add_comm_command(app, session);
  add_doctor_command(app, session);
  add_model_command(app);
  add_list_command(app);
  add_dev_commands(app, session);
  add_completion_command(app);
  add_second_job_command(app);
  for (const auto& [verb, examples] : kExamples)
    app.get_subcommand(verb)->footer(fmt::format("Examples:\n{}\n{}", examples, app.get_footer()));
}

void parse(CLI::App& app, const std::vector<std::string>& command_line) {
  std::vector<std::string> words(command_line.begin() + std::min<std::ptrdiff_t>(1, std::ssize(command_line)),
                                 command_line.end());
  std::ranges::transform(words, words.begin(), with_home_in);
  const bool asks_for_help = !words.empty() && words.front() == "help";
  if (asks_for_help) {
    words.erase(words.begin());
    words.emplace_back("--help");
  } else if (words.size() == 1) {
    tell_of_folder(app, words.front());
  }
  const std::string first = words.empty() ? "" : words.front();
  if (is_verb(*app.get_subcommand("dev"), first)) {
    words.insert(words.begin(), "dev");  // `chexbench calibrate` is `chexbench dev calibrate`
  } else if (!asks_for_help && names_data_set(app, first)) {
    words.insert(words.begin(), "probe");
  }
  std::ranges::reverse(words);  // CLI11 expects words in reverse order
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const std::string unknown = first_unknown(app);
    if (asks_for_help && !unknown.empty()) throw SpecError(explain_unknown(unknown, innermost(app)));
    throw;
  }
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = innermost(app);
  const std::string unknown = first_unknown(app);
  // CLI11 can report a mistyped verb or option as a missing one.
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  if (unknown.empty() || (code != CLI::ExitCodes::ExtrasError && code != CLI::ExitCodes::RequiredError)) {
    return fmt::format("{}; see `{} --help`", error.what(), full_name(verb));
  }
  return explain_unknown(unknown, verb);
}

}  // namespace chexbench::app

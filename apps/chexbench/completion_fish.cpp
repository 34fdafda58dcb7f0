#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completion.hpp"

namespace chexbench::app {
namespace {

// Returns the text within single quotes.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "'";
}

std::string names_of(const std::vector<CommandInfo>& commands) {
  std::string names;
  for (const CommandInfo& command : commands) names += " " + command.name;
  return names;
}

// Returns the test for a command line that has this command, and none of the command's own ones.
std::string condition(const CommandInfo& command) {
  std::string test;
  for (const std::string& verb : CLI::detail::split(command.path, ' ')) {
    if (!verb.empty()) test += fmt::format("__fish_seen_subcommand_from {}; and ", verb);
  }
  const std::string own = names_of(command.commands);
  if (!own.empty()) return test + "not __fish_seen_subcommand_from" + own;
  return test.substr(0, test.size() - std::string("; and ").size());
}

// Returns the words of `complete` that say which values there are.
std::string values(const ArgumentInfo& argument) {
  switch (argument.kind) {
    case ValueKind::none:
      return "";
    case ValueKind::any:
      return " -x";
    case ValueKind::words:
      return fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(argument.words, " "))));
    case ValueKind::spec:
      return " -x -a '(__chexbench_specs; __fish_complete_suffix .json)'";
    case ValueKind::profile:
      return " -x -a '(__chexbench_profiles; __fish_complete_suffix .json)'";
    case ValueKind::setting:
      return " -x -a '(__chexbench_settings)'";
    case ValueKind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::file:
      return " -r -F";
  }
  return "";
}

std::string lines_of(const CommandInfo& command) {
  const std::string begin = "complete -c chexbench -n " + quoted(condition(command));
  std::string text;
  for (const CommandInfo& verb : command.commands)
    text += fmt::format("{} -a {} -d {}\n", begin, verb.name, quoted(verb.description));
  const bool takes_folder = command.path.empty();  // `chexbench DIR` measures a folder
  if (takes_folder) {
    text += fmt::format("complete -c chexbench -n {} -a '(__fish_complete_directories)'\n",
                        quoted(condition(command) + " help"));  // which takes a command
  }
  for (const ArgumentInfo& option : command.options) {
    text += begin;
    for (const std::string& name : option.names)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    text += fmt::format("{} -d {}\n", values(option), quoted(option.description));
  }
  for (const ArgumentInfo& argument : command.arguments) {
    std::string offered = values(argument);
    if (offered.starts_with(" -x")) offered.erase(0, 3);
    if (offered.starts_with(" -r")) offered.erase(0, 3);
    if (!offered.empty()) text += begin + offered + "\n";
  }
  return text;
}

std::string function(const std::string& name, const std::vector<std::string>& words) {
  return fmt::format("function {}\n  printf '%s\\n' {}\nend\n", name, fmt::join(words, " "));
}

}  // namespace

std::string fish_completion(const CommandInfo& root) {
  std::string text = "# Completes chexbench in fish; `chexbench completion fish` wrote it.\n";
  SettingWords settings = setting_words();
  settings.keys.insert(settings.keys.end(), settings.values.begin(), settings.values.end());
  text += function("__chexbench_specs", experiment_names()) + function("__chexbench_profiles", accelerator_names()) +
          function("__chexbench_settings", settings.keys) + "complete -c chexbench -f\n";
  for (const CommandInfo* command : all_commands(root)) text += lines_of(*command);
  return text;
}

}  // namespace chexbench::app

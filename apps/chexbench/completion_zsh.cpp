#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "completion.hpp"

namespace chexbench::app {
namespace {

constexpr const char* kCommandsAndFolders =
    "_alternative 'commands:command:{_describe command commands}' 'folders:folder:_directories'";

// Returns the text within single quotes, with a backslash before each of `special`.
std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += R"('\'')";
      continue;
    }
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string function_name(const CommandInfo& command) {
  std::string name = "_chexbench";
  if (!command.path.empty()) name += "_" + command.path;
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return name;
}

std::string action(const ArgumentInfo& argument) {
  switch (argument.kind) {
    case ValueKind::none:
    case ValueKind::any:
      return " ";
    case ValueKind::words:
      return fmt::format("({})", fmt::join(argument.words, " "));
    case ValueKind::spec:
      return "_chexbench_specs";
    case ValueKind::profile:
      return "_chexbench_profiles";
    case ValueKind::setting:
      return "_chexbench_settings";
    case ValueKind::folder:
      return "_directories";
    case ValueKind::file:
      return "_files";
  }
  return " ";
}

// Returns the words of _arguments for an option, one for each of its names.
std::string option_words(const ArgumentInfo& option) {
  std::string words;
  for (const std::string& name : option.names) {
    const bool may_repeat = option.repeated || option.kind == ValueKind::setting;
    words += fmt::format(" \\\n    '{}{}[{}]", may_repeat ? "*" : "", name, escaped(option.description, "[]:\\"));
    if (option.kind != ValueKind::none) {
      words += fmt::format(":{}:{}", option.kind == ValueKind::words ? "value" : escaped(option.value, ":\\"),
                           action(option));
    }
    words += "'";
  }
  return words;
}

// Returns the lines of an array with the commands of this one, as _describe takes them.
std::string verb_lines(const CommandInfo& command) {
  std::string lines;
  for (const CommandInfo& verb : command.commands)
    lines += fmt::format("\n        '{}:{}'", verb.name, escaped(verb.description, "\\"));
  return lines;
}

// Returns the function for what follows `chexbench help`: commands, and behind one of them its own.
std::string help_function(const CommandInfo& root) {
  std::string text = "_chexbench_help() {\n  local -a commands\n  case \"${(j: :)words[2,CURRENT-1]}\" in\n";
  for (const CommandInfo* command : all_commands(root)) {
    if (command->commands.empty()) continue;
    text += fmt::format("    '{}') commands=({}) ;;\n", command->path, verb_lines(*command));
  }
  return text + "  esac\n  _describe command commands\n}\n";
}

std::string command_function(const CommandInfo& command) {
  std::string text = fmt::format("{}() {{\n", function_name(command));
  const bool has_verbs = !command.commands.empty();
  if (has_verbs) text += "  local curcontext=$curcontext state line\n  typeset -A opt_args\n";
  text += has_verbs ? "  _arguments -C" : "  _arguments";
  for (const ArgumentInfo& option : command.options) text += option_words(option);
  for (const ArgumentInfo& argument : command.arguments) {
    text += fmt::format(" \\\n    '{}:{}:{}'", argument.repeated ? "*" : "", escaped(argument.names.front(), ":\\"),
                        action(argument));
  }
  if (!has_verbs) return text + "\n}\n";
  text += " \\\n    '1: :->command' '*:: :->rest'\n  case $state in\n    command)\n      local -a commands=(";
  text += verb_lines(command);
  const bool is_program = command.path.empty();  // `chexbench DIR` measures a folder
  text += fmt::format(")\n      {} ;;\n    rest)\n      case $words[1] in\n",
                      is_program ? kCommandsAndFolders : "_describe command commands");
  if (is_program) text += "        help) _chexbench_help ;;\n";
  for (const CommandInfo& verb : command.commands)
    text += fmt::format("        {}) {} ;;\n", verb.name, function_name(verb));
  return text + "      esac ;;\n  esac\n}\n";
}

// Returns the functions for what options take.
std::string value_functions() {
  const SettingWords settings = setting_words();
  std::string text = fmt::format("_chexbench_specs() {{\n  compadd -- {}\n  _files -g '*.json'\n}}\n",
                                 fmt::join(experiment_names(), " "));
  text += fmt::format("_chexbench_profiles() {{\n  compadd -- {}\n  _files -g '*.json'\n}}\n",
                      fmt::join(accelerator_names(), " "));
  text += "_chexbench_settings() {\n  if [[ $PREFIX == *'='* ]]; then\n";
  text += fmt::format("    compadd -- {}\n  else\n    compadd -S '' -- {}\n  fi\n}}\n", fmt::join(settings.values, " "),
                      fmt::join(settings.keys, " "));
  return text;
}

}  // namespace

std::string zsh_completion(const CommandInfo& root) {
  std::string text = "#compdef chexbench\n# Completes chexbench in zsh; `chexbench completion zsh` wrote it.\n";
  text += value_functions() + help_function(root);
  std::vector<const CommandInfo*> all = all_commands(root);
  std::ranges::reverse(all);
  for (const CommandInfo* command : all) text += command_function(*command);
  // Loaded from fpath, the file is the body of the function; `source` needs it to be registered.
  return text +
         "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n  _chexbench \"$@\"\nelse\n  compdef _chexbench "
         "chexbench\nfi\n";
}

}  // namespace chexbench::app

// Scripts that complete the commands, options and values of chexbench in a shell. Each is complete, built from the tree
// and the built-in names, and never runs chexbench while the user types.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "command_line.hpp"
#include "command_tree.hpp"
#include "output.hpp"

namespace chexbench::app {
namespace {

// The shell splits words at '=' and ':', so they are joined first, and offers are cut up to the last of these
// characters, because the shell inserts only the rest.
constexpr const char* kFunction = R"bash(
_chexbench() {
  local -a words=()
  local i word skip='' last='' path='' count=0 begun='' options='' commands='' values='' files=''
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if ((${#words[@]} > 0)) && [[ $word == [=:] || ${COMP_WORDS[i - 1]} == [=:] ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  local current=''
  ((${#words[@]} == 0)) || current=${words[-1]}
  for word in "${words[@]:0:${#words[@]} - 1}"; do
    if [[ -n $skip ]]; then
      skip=''
    elif [[ $word == -* ]]; then
      if _chexbench_option "$path $word"; then skip=1 last=$word; fi
    elif [[ $word != help || -n $path || $count != 0 ]]; then  # help takes a command, too
      _chexbench_command "$path"
      if [[ " $commands " == *" $word "* ]]; then path+=${path:+ }$word; else count=$((count + 1)); fi
    fi
  done
  values='' files='' COMPREPLY=()
  if [[ -n $skip ]]; then
    _chexbench_option "$path $last"
  elif [[ $current == -*=* ]]; then
    _chexbench_option "$path ${current%%=*}"
    current=${current#*=}
  elif [[ $current == -* ]]; then
    _chexbench_command "$path"
    values=$options
  else
    _chexbench_command "$path"
    values=$commands
    ((${#words[@]} > 1)) || files=directory  # `chexbench DIR` measures a folder
    [[ -n $values ]] || _chexbench_argument "$path $((count + 1))" || _chexbench_argument "$path *" || return 0
  fi
  if [[ $values == settings && $current == *=* ]]; then
    values=$_chexbench_values
  elif [[ $values == settings ]]; then
    values=$_chexbench_keys
    compopt -o nospace 2>/dev/null
  fi
  mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
  if [[ $files == directory ]] && ((${#COMPREPLY[@]} > 0)); then
    # As file names, commands that are names of folders, too, would end in a slash.
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -S / -A directory -- "$current")
  elif [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -A "$files" -- "$current")
  fi
  if [[ $current == *[=:]* && $COMP_WORDBREAKS == *=* ]]; then
    begun=${current%"${current##*[=:]}"}
    COMPREPLY=("${COMPREPLY[@]#"$begun"}")
  fi
}
complete -F _chexbench chexbench
)bash";

// How each shell gets the possible values: bash by an assignment, fish by words of `complete`, zsh by an action of
// _arguments.
struct Offer {
  ValueKind kind;
  const char* bash;
  const char* fish;
  const char* zsh;
};
constexpr std::array<Offer, 8> kOffers = {
    {{ValueKind::none, "", "", " "},
     {ValueKind::any, "", " -x", " "},
     {ValueKind::words, "values='{}'", " -x -a '{}'", "({})"},
     {ValueKind::spec, "values=$_chexbench_specs files=file",
      " -x -a '(__chexbench_specs; __fish_complete_suffix .json)'", "_chexbench_specs"},
     {ValueKind::profile, "values=$_chexbench_profiles files=file",
      " -x -a '(__chexbench_profiles; __fish_complete_suffix .json)'", "_chexbench_profiles"},
     {ValueKind::setting, "values=settings", " -x -a '(__chexbench_settings)'", "_chexbench_settings"},
     {ValueKind::folder, "files=directory", " -x -a '(__fish_complete_directories)'", "_directories"},
     {ValueKind::file, "files=file", " -r -F", "_files"}}};

std::string offer(const ArgumentInfo& argument, const char* Offer::*shell) {
  const auto* const found = std::ranges::find(kOffers, argument.kind, &Offer::kind);
  return fmt::format(fmt::runtime(found->*shell), fmt::join(argument.words, " "));
}

std::string names_of(const CommandInfo& command) {
  std::string names;
  for (const ArgumentInfo& option : command.options) names += fmt::format(" {}", fmt::join(option.names, " "));
  return names.empty() ? names : names.substr(1);
}

std::string command_function(const std::vector<const CommandInfo*>& all) {
  std::string text = "_chexbench_command() {\n  case $1 in\n";
  for (const CommandInfo* command : all) {
    std::vector<std::string> verbs;
    for (const CommandInfo& verb : command->commands) verbs.push_back(verb.name);
    text += fmt::format("    '{}') options='{}' commands='{}' ;;\n", command->path, names_of(*command),
                        fmt::join(verbs, " "));
  }
  return text + "  esac\n}\n";
}

// Returns the function that fails for an option without a value.
std::string option_function(const std::vector<const CommandInfo*>& all) {
  std::string text = "_chexbench_option() {\n  case $1 in\n";
  for (const CommandInfo* command : all) {
    for (const ArgumentInfo& option : command->options) {
      if (option.kind == ValueKind::none) continue;
      std::string patterns;
      for (const std::string& name : option.names)
        patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : " | ", command->path, name);
      text += fmt::format("    {}) {} ;;\n", patterns, offer(option, &Offer::bash));
    }
  }
  return text + "    *) return 1 ;;\n  esac\n}\n";
}

// Returns the function for arguments by their position; '*' stands for any further one.
std::string argument_function(const std::vector<const CommandInfo*>& all) {
  std::string text = "_chexbench_argument() {\n  case $1 in\n";
  for (const CommandInfo* command : all) {
    for (std::size_t i = 0; i < command->arguments.size(); ++i) {
      const ArgumentInfo& argument = command->arguments[i];
      const std::string place = argument.repeated ? "*" : fmt::to_string(i + 1);
      text += fmt::format("    '{} {}') {} ;;\n", command->path, place, offer(argument, &Offer::bash));
    }
  }
  return text + "    *) return 1 ;;\n  esac\n}\n";
}

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

std::string quoted(const std::string& text) { return "'" + escaped(text, "\\") + "'"; }

std::string names_of(const std::vector<CommandInfo>& commands) {
  std::string names;
  for (const CommandInfo& command : commands) names += " " + command.name;
  return names;
}

// Returns the test for a command line with this command but none of its subcommands.
std::string condition(const CommandInfo& command) {
  std::string test;
  for (const std::string& verb : CLI::detail::split(command.path, ' ')) {
    if (!verb.empty()) test += fmt::format("__fish_seen_subcommand_from {}; and ", verb);
  }
  const std::string own = names_of(command.commands);
  if (!own.empty()) return test + "not __fish_seen_subcommand_from" + own;
  return test.substr(0, test.size() - std::string("; and ").size());
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
    text += fmt::format("{} -d {}\n", offer(option, &Offer::fish), quoted(option.description));
  }
  for (const ArgumentInfo& argument : command.arguments) {
    std::string offered = offer(argument, &Offer::fish);
    if (offered.starts_with(" -x") || offered.starts_with(" -r")) offered.erase(0, 3);
    if (!offered.empty()) text += begin + offered + "\n";
  }
  return text;
}

std::string function(const std::string& name, const std::vector<std::string>& words) {
  return fmt::format("function {}\n  printf '%s\\n' {}\nend\n", name, fmt::join(words, " "));
}

constexpr const char* kCommandsAndFolders =
    "_alternative 'commands:command:{_describe command commands}' 'folders:folder:_directories'";

std::string function_name(const CommandInfo& command) {
  std::string name = "_chexbench";
  if (!command.path.empty()) name += "_" + command.path;
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return name;
}

// Returns the words of _arguments for an option, one for each of its names.
std::string option_words(const ArgumentInfo& option) {
  std::string words;
  for (const std::string& name : option.names) {
    const bool may_repeat = option.repeated || option.kind == ValueKind::setting;
    words += fmt::format(" \\\n    '{}{}[{}]", may_repeat ? "*" : "", name, escaped(option.description, "[]:\\"));
    if (option.kind != ValueKind::none) {
      words += fmt::format(":{}:{}", option.kind == ValueKind::words ? "value" : escaped(option.value, ":\\"),
                           offer(option, &Offer::zsh));
    }
    words += "'";
  }
  return words;
}

// Returns the lines of an array of this command's subcommands, in the format of _describe.
std::string verb_lines(const CommandInfo& command) {
  std::string lines;
  for (const CommandInfo& verb : command.commands)
    lines += fmt::format("\n        '{}:{}'", verb.name, escaped(verb.description, "\\"));
  return lines;
}

// Returns the function for the words after `chexbench help`: commands, and after one of them its subcommands.
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
                        offer(argument, &Offer::zsh));
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

// Returns the functions for the values of options.
std::string value_functions() {
  const SettingWords settings = setting_words();
  std::string text;
  for (const auto& [name, words] : {std::pair("specs", experiment_names()), std::pair("profiles", accelerator_names())})
    text += fmt::format("_chexbench_{}() {{\n  compadd -- {}\n  _files -g '*.json'\n}}\n", name, fmt::join(words, " "));
  text += "_chexbench_settings() {\n  if [[ $PREFIX == *'='* ]]; then\n";
  text += fmt::format("    compadd -- {}\n  else\n    compadd -S '' -- {}\n  fi\n}}\n", fmt::join(settings.values, " "),
                      fmt::join(settings.keys, " "));
  return text;
}

std::string bash_completion(const CommandInfo& root) {
  const std::vector<const CommandInfo*> all = all_commands(root);
  const SettingWords settings = setting_words();
  std::string text = "# Completes chexbench in bash; `chexbench completion bash` wrote it.\n";
  text += fmt::format("_chexbench_specs='{}'\n", fmt::join(experiment_names(), " "));
  text += fmt::format("_chexbench_profiles='{}'\n", fmt::join(accelerator_names(), " "));
  text += fmt::format("_chexbench_keys='{}'\n", fmt::join(settings.keys, " "));
  text += fmt::format("_chexbench_values='{}'\n\n", fmt::join(settings.values, " "));
  return text + command_function(all) + option_function(all) + argument_function(all) + kFunction;
}

std::string fish_completion(const CommandInfo& root) {
  std::string text = "# Completes chexbench in fish; `chexbench completion fish` wrote it.\n";
  SettingWords settings = setting_words();
  settings.keys.insert(settings.keys.end(), settings.values.begin(), settings.values.end());
  text += function("__chexbench_specs", experiment_names()) + function("__chexbench_profiles", accelerator_names()) +
          function("__chexbench_settings", settings.keys) + "complete -c chexbench -f\n";
  for (const CommandInfo* command : all_commands(root)) text += lines_of(*command);
  return text;
}

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

std::string completion(const std::string& shell, const CommandInfo& root) {
  if (shell == "bash") return bash_completion(root);
  return shell == "zsh" ? zsh_completion(root) : fish_completion(root);
}

}  // namespace

void add_completion_command(CLI::App& app) {
  CLI::App* const verb =
      app.add_subcommand("completion", "Prints a shell's completion script: source <(chexbench completion bash).");
  verb->group(kOtherCommands);
  const auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "Print the script for this shell.")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->callback([&app, shell] { print(completion(*shell, command_tree(app)), "script"); });
  CLI::App* const page = app.add_subcommand("man-page", "Print the manual page as roff.");
  page->group("");  // an installation includes the page
  page->callback([&app] { print(man_page(command_tree(app), CHEXBENCH_VERSION), "roff"); });
}

}  // namespace chexbench::app

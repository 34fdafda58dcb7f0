#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completion.hpp"

namespace chexbench::app {
namespace {

// The shell splits words at '=' and ':', so they are joined first, and what stands before the last of them is cut off
// what is offered, as the shell inserts only the rest.
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

// Returns the assignment that tells the function what to offer.
std::string offer(const ArgumentInfo& argument) {
  switch (argument.kind) {
    case ValueKind::none:
    case ValueKind::any:
      return "";
    case ValueKind::words:
      return fmt::format("values='{}'", fmt::join(argument.words, " "));
    case ValueKind::spec:
      return "values=$_chexbench_specs files=file";
    case ValueKind::profile:
      return "values=$_chexbench_profiles files=file";
    case ValueKind::setting:
      return "values=settings";
    case ValueKind::folder:
      return "files=directory";
    case ValueKind::file:
      return "files=file";
  }
  return "";
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
      text += fmt::format("    {}) {} ;;\n", patterns, offer(option));
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
      text += fmt::format("    '{} {}') {} ;;\n", command->path, place, offer(argument));
    }
  }
  return text + "    *) return 1 ;;\n  esac\n}\n";
}

}  // namespace

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

}  // namespace chexbench::app

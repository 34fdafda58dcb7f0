// The commands and options of chexbench as plain data, taken from what CLI11 parses with, for the scripts of shells and
// for the man page.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace chexbench::app {

// What a shell offers for the value of an option.
enum class ValueKind { none, any, words, spec, profile, setting, folder, file };

struct ArgumentInfo {
  std::vector<std::string> names;  // "--output", "-o"; of an argument without a dash, its name alone
  std::string value;               // as `--help` shows it: "DIR", "table|json"; empty for flags
  std::string description;
  ValueKind kind = ValueKind::none;
  std::vector<std::string> words;  // of kind words
  bool required = false;
  bool repeated = false;  // takes several words
};

struct CommandInfo {
  std::string path;  // "data convert"; empty for the program
  std::string name;
  std::string description;
  std::string footer;
  std::vector<ArgumentInfo> options;
  std::vector<ArgumentInfo> arguments;  // by position
  std::vector<CommandInfo> commands;    // without hidden ones
};

// Returns the tree of all that `app` parses.
CommandInfo command_tree(const CLI::App& app);

// Returns the commands of the tree, each before its own commands.
std::vector<const CommandInfo*> all_commands(const CommandInfo& root);

// What may follow --set: keys with their '=', and keys with each value that has a name.
struct SettingWords {
  std::vector<std::string> keys;    // "data.format="
  std::vector<std::string> values;  // "data.format=png"
};
SettingWords setting_words();

// Return the names that `chexbench list` has.
std::vector<std::string> experiment_names();
std::vector<std::string> accelerator_names();

}  // namespace chexbench::app

// The commands and options of chexbench as plain data, extracted from CLI11, for completion scripts and the man page.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace chexbench::app {

// The completions that a shell offers for an option's value.
enum class ValueKind { none, any, words, spec, profile, setting, folder, file };

struct ArgumentInfo {
  std::vector<std::string> names;  // "--output", "-o"; for a positional argument, its name only
  std::string value;               // as in `--help`: "DIR", "table|json"; empty for flags
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

// Returns the tree of all commands and options of `app`.
CommandInfo command_tree(const CLI::App& app);

// Returns the commands of the tree, each before its subcommands.
std::vector<const CommandInfo*> all_commands(const CommandInfo& root);

// The words that may follow --set: keys with '=', and keys with each named value.
struct SettingWords {
  std::vector<std::string> keys;    // "data.format="
  std::vector<std::string> values;  // "data.format=tfrecord"
};
SettingWords setting_words();

// Return the names of `chexbench list`.
std::vector<std::string> experiment_names();
std::vector<std::string> accelerator_names();

// Returns the manual page as roff with the macros of man(7), for section 1: every command and option of the tree.
std::string man_page(const CommandInfo& root, const std::string& version);

}  // namespace chexbench::app

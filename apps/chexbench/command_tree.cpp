#include "command_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/profile.hpp"
#include "spec/shipped.hpp"

namespace chexbench::app {
namespace {

// The name of an option's value, and its meaning.
constexpr std::array<std::pair<const char*, ValueKind>, 8> kKinds = {{{"SPEC", ValueKind::spec},
                                                                      {"PROFILE", ValueKind::profile},
                                                                      {"KEY=VALUE", ValueKind::setting},
                                                                      {"DIR", ValueKind::folder},
                                                                      {"ROOT", ValueKind::folder},
                                                                      {"RUN", ValueKind::file},
                                                                      {"LOG", ValueKind::file},
                                                                      {"FILE", ValueKind::file}}};

// Returns the words between the first braces of a text: "TEXT:{table,json}=table".
std::vector<std::string> words_in_braces(const std::string& text) {
  const std::size_t begin = text.find('{'), end = text.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::vector<std::string> words = CLI::detail::split(text.substr(begin + 1, end - begin - 1), ',');
  for (std::string& word : words) CLI::detail::trim(word);
  return words;
}

// Returns the text of `--help` after the name of an option, without the default.
std::string value_text(const CLI::Option& option) {
  if (!option.get_option_text().empty()) return option.get_option_text();
  return option.get_type_size() == 0 ? "" : option.get_type_name();
}

ArgumentInfo argument_of(const CLI::Option& option) {
  ArgumentInfo info;
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  if (!option.nonpositional()) info.names.push_back(option.get_name());
  info.description = option.get_description();
  info.value = value_text(option);
  info.required = option.get_required();
  info.repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  if (info.value.empty()) return info;
  info.kind = ValueKind::any;
  for (const auto& [name, kind] : kKinds)
    if (info.value == name) info.kind = kind;
  info.words = info.value == "NETWORK" ? spec::find_key("model.name")->values.words : words_in_braces(info.value);
  if (info.words.empty()) return info;
  info.kind = ValueKind::words;
  if (info.value != "NETWORK") info.value = fmt::format("{}", fmt::join(info.words, "|"));
  return info;
}

CommandInfo command_of(const CLI::App& app, const std::string& path) {
  CommandInfo info{.path = path,
                   .name = app.get_name(),
                   .description = app.get_description(),
                   .footer = app.get_footer(),
                   .options = {},
                   .arguments = {},
                   .commands = {}};
  for (const CLI::Option* option : app.get_options())
    (option->nonpositional() ? info.options : info.arguments).push_back(argument_of(*option));
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    info.commands.push_back(command_of(*verb, path + (path.empty() ? "" : " ") + verb->get_name()));
  return info;
}

void add_commands(const CommandInfo& command, std::vector<const CommandInfo*>& all) {
  all.push_back(&command);
  for (const CommandInfo& verb : command.commands) add_commands(verb, all);
}

}  // namespace

CommandInfo command_tree(const CLI::App& app) { return command_of(app, ""); }

std::vector<const CommandInfo*> all_commands(const CommandInfo& root) {
  std::vector<const CommandInfo*> all;
  add_commands(root, all);
  return all;
}

SettingWords setting_words() {
  SettingWords settings{.keys = {"pipeline="}, .values = {}};
  for (const std::string& name : spec::preset_names()) settings.values.push_back("pipeline=" + name);
  for (const spec::KeyRule& rule : spec::key_rules()) {
    const std::string key = rule.path + "=";
    settings.keys.push_back(key);
    for (const std::string& word : rule.values.words) settings.values.push_back(key + word);
    if (rule.values.type == spec::ValueType::boolean)
      settings.values.insert(settings.values.end(), {key + "true", key + "false"});
    if (rule.values.prefix != spec::kEmulatedPrefix) continue;
    const std::string prefixed = key + rule.values.prefix;
    for (const std::string& name : spec::profile_names()) settings.values.push_back(prefixed + name);
  }
  return settings;
}

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const spec::ShippedFile& file : spec::shipped_experiments()) names.push_back(file.name);
  return names;
}

std::vector<std::string> accelerator_names() { return {spec::profile_names().begin(), spec::profile_names().end()}; }

}  // namespace chexbench::app

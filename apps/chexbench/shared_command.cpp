#include "shared_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace chexbench::app {
namespace {

bool may_differ(const std::string& option) {
  constexpr std::array<std::string_view, 10> kNames{"--config", "--set",   "--output",   "--resume",  "--format",
                                                    "--quiet",  "--mllog", "--findings", "--metrics", "--progress"};
  return std::ranges::find(kNames, option) != kNames.end();
}

}  // namespace

std::string shared_command(const CLI::App& app) {
  if (!app.get_subcommands().empty()) {
    const CLI::App& verb = *app.get_subcommands().front();
    return verb.get_name() + "\n" + shared_command(verb);
  }
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || may_differ(option->get_name())) continue;
    text += fmt::format("{} {}\n", option->get_name(), fmt::join(option->results(), " "));
  }
  return text;
}

}  // namespace chexbench::app

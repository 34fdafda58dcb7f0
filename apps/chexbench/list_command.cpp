#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command_line.hpp"
#include "options.hpp"
#include "output.hpp"
#include "verbs/list/list.hpp"

namespace chexbench::app {

void add_list_command(CLI::App& app) {
  const auto format = std::make_shared<std::string>("table");
  CLI::App* const verb =
      app.add_subcommand("list", "Lists the built-in experiments, pipelines, accelerators and links.");
  add_format_option(*verb, *format, {"table", "json"});
  verb->callback([format] { print(*format == "json" ? verbs::shipped_json() : verbs::shipped_table(), *format); });
}

}  // namespace chexbench::app

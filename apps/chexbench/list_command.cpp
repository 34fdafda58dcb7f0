#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "commands.hpp"
#include "format_option.hpp"
#include "output.hpp"
#include "verbs/list/list.hpp"

namespace chexbench::app {
namespace {

void run(const std::string& format) {
  verbs::ShippedList list = verbs::list_shipped();
  list.chexbench_version = CHEXBENCH_VERSION;
  print(format == "json" ? verbs::shipped_json(list) : verbs::shipped_table(list), format);
}

}  // namespace

void add_list_command(CLI::App& app) {
  const auto format = std::make_shared<std::string>("table");
  CLI::App* const verb =
      app.add_subcommand("list", "Name the experiments, pipelines and accelerator profiles that are built in.");
  add_format_option(*verb, *format, {"table", "json"});
  verb->callback([format] { run(*format); });
}

}  // namespace chexbench::app

// chexbench report DIR: the result of an earlier run once more, as a page, a table or Markdown.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

void add_report_command(CLI::App& app);

}  // namespace chexbench::app

// The verb `chexbench report DIR`: writes the result of an earlier run again, as an HTML page, Markdown, a table, JSON
// or CSV.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verb to `app`. The callback throws chexbench's typed errors.
void add_report_command(CLI::App& app);

}  // namespace chexbench::app

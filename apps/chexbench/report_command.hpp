// The verb `chexbench report DIR`: gives the result of an earlier run again, as a table with the answer before it, an
// HTML page, Markdown, JSON or CSV.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verb to `app`. The callback throws chexbench's typed errors.
void add_report_command(CLI::App& app);

}  // namespace chexbench::app

// The verb `chexbench compare BASE NEW`: says whether a run is better or worse than an earlier one.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verb to `app`. The callback throws chexbench's typed errors; ComparisonError if an arm became worse.
void add_compare_command(CLI::App& app);

}  // namespace chexbench::app

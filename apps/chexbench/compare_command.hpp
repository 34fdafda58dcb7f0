// chexbench compare BASE NEW: whether a run became better or worse than an earlier one.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

void add_compare_command(CLI::App& app);

}  // namespace chexbench::app

// The verbs `chexbench import ...`: make experiments of the files of other benchmarks.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verbs to `app`. The callbacks throw chexbench's typed errors.
void add_import_commands(CLI::App& app);

}  // namespace chexbench::app

// The verb `chexbench model`: prints the layers of a network.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verb to `app`. The callback throws chexbench's typed errors.
void add_model_command(CLI::App& app);

}  // namespace chexbench::app

// The verb `chexbench predict`: predicts images/s on more ranks than the machine has, and what limits them.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verb to `app`. The callback throws chexbench's typed errors.
void add_predict_command(CLI::App& app);

}  // namespace chexbench::app

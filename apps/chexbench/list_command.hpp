// The verb `chexbench list`: names what is built in.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verb to `app`. The callback throws chexbench's typed errors.
void add_list_command(CLI::App& app);

}  // namespace chexbench::app

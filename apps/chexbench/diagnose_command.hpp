// The verb `chexbench diagnose LOG...`: says why a training of another program is slow.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verb to `app`. The callback throws chexbench's typed errors.
void add_diagnose_command(CLI::App& app);

}  // namespace chexbench::app

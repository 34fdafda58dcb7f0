// The verb "completion", and the hidden verb "man-page", which the build calls.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verbs to `app`, whose commands and options they print.
void add_completion_command(CLI::App& app);

}  // namespace chexbench::app

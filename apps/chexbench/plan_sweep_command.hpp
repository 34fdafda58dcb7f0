// The verb `chexbench plan-sweep`: times cuDNN's convolution plans on this machine's GPU.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verb to `app`. The callback throws chexbench's typed errors.
void add_plan_sweep_command(CLI::App& app);

}  // namespace chexbench::app

// chexbench plan-sweep: times cuDNN's convolution plans on the GPU at hand.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

void add_plan_sweep_command(CLI::App& app);

}  // namespace chexbench::app

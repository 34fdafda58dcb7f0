// chexbench model: the layers of a network.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

void add_model_command(CLI::App& app);

}  // namespace chexbench::app

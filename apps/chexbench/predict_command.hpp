// chexbench predict: images/s on more ranks than there are, and what limits them.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

void add_predict_command(CLI::App& app);

}  // namespace chexbench::app

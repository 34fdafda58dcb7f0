// chexbench diagnose LOG...: why a training that chexbench does not run is slow.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

void add_diagnose_command(CLI::App& app);

}  // namespace chexbench::app

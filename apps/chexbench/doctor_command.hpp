// chexbench doctor: what this machine and this build have for training, and what does not fit.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

void add_doctor_command(CLI::App& app);

}  // namespace chexbench::app

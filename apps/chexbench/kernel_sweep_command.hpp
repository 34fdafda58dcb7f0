// The verb `chexbench kernel-sweep`: measures and checks engine cuda's own kernels on this machine's GPU.
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

// Adds the verb to `app`. The callback throws chexbench's typed errors.
void add_kernel_sweep_command(CLI::App& app);

}  // namespace chexbench::app

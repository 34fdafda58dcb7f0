// The verb `chexbench calibrate`: measures the engine of this machine and writes an accelerator profile.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/session.hpp"

namespace chexbench::app {

// Adds the verb to `app`. `session` must outlive the parsing of `app`. The callback throws chexbench's typed errors.
void add_calibrate_command(CLI::App& app, bench::Session& session);

}  // namespace chexbench::app

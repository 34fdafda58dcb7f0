// chexbench calibrate: measures the engine at hand into an accelerator profile.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/session.hpp"

namespace chexbench::app {

// `session` must outlive the parsing of `app`.
void add_calibrate_command(CLI::App& app, bench::Session& session);

}  // namespace chexbench::app

// The command `chexbench --config SPEC`, which runs an experiment and has no verb.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace chexbench::app {

// Adds the options of a run to `app`. `session` must outlive the parsing of `app`. `command_line` is recorded in
// reports. The callback throws chexbench's typed errors.
void add_run_options(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line);

}  // namespace chexbench::app

// chexbench --config SPEC: runs an experiment.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace chexbench::app {

// `session` must outlive `app`; `command_line` goes into reports.
void add_run_options(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line);

}  // namespace chexbench::app

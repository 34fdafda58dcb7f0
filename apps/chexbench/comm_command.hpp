// chexbench comm: what averaging gradients over ranks costs, by size.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/session.hpp"

namespace chexbench::app {

// `session` must outlive `app`.
void add_comm_command(CLI::App& app, bench::Session& session);

}  // namespace chexbench::app

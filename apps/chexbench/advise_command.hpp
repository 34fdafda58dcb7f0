// chexbench advise: what would make the input faster.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/session.hpp"

namespace chexbench::app {

void add_advise_command(CLI::App& app, bench::Session& session);

}  // namespace chexbench::app

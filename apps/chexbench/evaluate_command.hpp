// The verb `chexbench evaluate`: scores images with a trained network.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/session.hpp"

namespace chexbench::app {

// Adds the verb to `app`. `session` must outlive the parsing of `app`. The callback throws chexbench's typed errors.
void add_evaluate_command(CLI::App& app, bench::Session& session);

}  // namespace chexbench::app

// The verb `chexbench advise`: tries what makes a trial's input faster.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/session.hpp"

namespace chexbench::app {

// Adds the verb to `app`. `session` must outlive the parsing of `app`. The callback throws chexbench's typed errors.
void add_advise_command(CLI::App& app, bench::Session& session);

}  // namespace chexbench::app

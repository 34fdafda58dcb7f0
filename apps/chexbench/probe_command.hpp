// The verb `chexbench probe DIR`, which is what `chexbench DIR` runs: an answer about a folder of images in a minute.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace chexbench::app {

// Adds the verb to `app`. `session` must outlive the parsing of `app`. `command_line` is recorded in reports. The
// callback throws chexbench's typed errors.
void add_probe_command(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line);

}  // namespace chexbench::app

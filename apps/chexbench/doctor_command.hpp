// chexbench doctor: what this machine and this build have for training, what does not fit, and what spoils figures.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/session.hpp"

namespace chexbench::app {

// `session` must outlive the parsing of `app`.
void add_doctor_command(CLI::App& app, bench::Session& session);

}  // namespace chexbench::app

// The verb `chexbench doctor`: says what this machine and this build have for training, what does not fit together, and
// what makes measurements invalid.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/session.hpp"

namespace chexbench::app {

// Adds the verb to `app`. `session` must outlive the parsing of `app`. The callback throws chexbench's typed errors;
// DeviceError if something does not fit.
void add_doctor_command(CLI::App& app, bench::Session& session);

}  // namespace chexbench::app

// The hidden command `second-job`: the process that a run starts beside a trial (bench/second_job).
#pragma once

#include <CLI/CLI.hpp>

namespace chexbench::app {

void add_second_job_command(CLI::App& app);

}  // namespace chexbench::app

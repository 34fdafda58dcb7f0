// The part of the command line that all ranks of a job must share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace chexbench::app {

// Returns the command and its options, a line each, after they are parsed. Leaves out options that only one rank uses,
// options for the display of progress, and options that become part of the spec, which ranks compare.
std::string shared_command(const CLI::App& app);

}  // namespace chexbench::app

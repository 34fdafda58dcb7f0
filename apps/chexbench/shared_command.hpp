// What the ranks of a job must have in common on their command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace chexbench::app {

// Returns the command and its options, a line each, after they are parsed. Not among them are options whose value only
// one rank uses, those that say how a process shows its work, and those that end up in the spec, which ranks compare.
std::string shared_command(const CLI::App& app);

}  // namespace chexbench::app

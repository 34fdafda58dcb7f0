// The facts in a report about the program that made it.
#pragma once

#include <string>
#include <vector>

#include "results/record.hpp"

namespace chexbench::app {

// Fills in the version, the revision of the sources, the compiler, and the command line without its credentials.
void add_build_facts(results::Environment& environment, const std::vector<std::string>& command_line);

}  // namespace chexbench::app

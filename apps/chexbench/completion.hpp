// Scripts that complete the commands, options and values of chexbench in a shell.
#pragma once

#include <string>

#include "command_tree.hpp"

namespace chexbench::app {

// Return the script for a shell. It is complete, built from the tree and the built-in names, and never runs chexbench
// while the user types.
std::string bash_completion(const CommandInfo& root);
std::string zsh_completion(const CommandInfo& root);
std::string fish_completion(const CommandInfo& root);

}  // namespace chexbench::app

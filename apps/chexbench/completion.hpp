// Scripts that complete the commands, options and values of chexbench in a shell.
#pragma once

#include <string>

#include "command_tree.hpp"

namespace chexbench::app {

// Return the script for a shell: all of it is from the tree and from what is built in, so it asks nothing of chexbench
// while somebody types.
std::string bash_completion(const CommandInfo& root);
std::string zsh_completion(const CommandInfo& root);
std::string fish_completion(const CommandInfo& root);

}  // namespace chexbench::app

// The manual page of chexbench.
#pragma once

#include <string>

#include "command_tree.hpp"

namespace chexbench::app {

// Returns the page as roff with the macros of man(7), for section 1: every command and option of the tree.
std::string man_page(const CommandInfo& root, const std::string& version);

}  // namespace chexbench::app

// Options that are valid with only one choice of another option.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace chexbench::app {

// Refuses an option that was given although `choice` ("--to cached") was not made: it would be ignored.
// @throws CLI::RequiresError
inline void require_choice(const CLI::Option& option, bool is_made, const std::string& choice) {
  if (!option.empty() && !is_made) throw CLI::RequiresError(option.get_name(), choice);
}

}  // namespace chexbench::app

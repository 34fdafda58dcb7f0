// The command line: all verbs and options of chexbench.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bench/ranks.hpp"

namespace chexbench::app {

// Adds every verb and option to `app`. Their callbacks do the work while `app` parses, and throw chexbench's typed
// errors. `session` must outlive the parsing of `app`. `command_line` is recorded in reports.
void describe(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line);

// Parses `command_line`, the program's name first, which runs the verb. `help VERB` is `VERB --help`, and a first word
// that is a path but not a verb is the folder of `probe`.
// @throws CLI::ParseError if words are wrong, and also for --help and --version
// @throws the verb's errors
void parse(CLI::App& app, const std::vector<std::string>& command_line);

// Returns the message for a usage error. If a verb or an option is unknown, it suggests the nearest valid name.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace chexbench::app

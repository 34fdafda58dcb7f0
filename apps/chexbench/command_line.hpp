// The command line: which verbs and options there are.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace chexbench::app {

// Adds every verb and option. Their callbacks do the work while `app` parses, and throw chexbench's typed errors.
// `session` must outlive `app`; `command_line` goes into reports.
void describe(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line);

// A usage error in words, with the nearest valid name where a verb or an option is unknown.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace chexbench::app

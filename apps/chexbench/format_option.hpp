// --format, as all verbs have it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace chexbench::app {

// `format` holds the default, and must live as long as `verb`.
void add_format_option(CLI::App& verb, std::string& format, const std::vector<std::string>& formats);

}  // namespace chexbench::app

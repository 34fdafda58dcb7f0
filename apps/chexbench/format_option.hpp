// The option --format, which most verbs share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace chexbench::app {

// Adds the option to `verb`, with `formats` as its values. `format` has the default and receives the value; it must
// outlive the parsing of `verb`.
void add_format_option(CLI::App& verb, std::string& format, const std::vector<std::string>& formats);

}  // namespace chexbench::app

// The option --findings of commands that print the result of a run, and how they print it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "analysis/derive.hpp"
#include "report/table.hpp"

namespace chexbench::app {

// Adds the option to `verb`. `findings` receives its value, "all" or a number; it must outlive the parsing of `verb`.
CLI::Option* add_findings_option(CLI::App& verb, std::string& findings);

// Returns the options of a table on standard output: as wide as the terminal, and in colour unless NO_COLOR is set or
// the terminal has none; plain and of any width if standard output is not a terminal. `findings` is a value of
// --findings, or "" for the default.
// @throws SpecError if findings were requested and `format` is not the table
report::TableOptions table_options(const std::string& findings, const std::string& format, const std::string& folder);

// Prints the answer, the table and the findings of a run whose results are in `folder`, with these options.
// @throws as print_shown()
void print_result(const analysis::Evaluation& evaluation, const std::string& findings, const std::string& folder);

}  // namespace chexbench::app

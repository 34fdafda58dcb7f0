// Options for numbers of ranks, which are written in the same way after every verb: 1,2,4.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace chexbench::app {

// Adds --ranks to `verb`: a list of numbers with commas; spaces do as well. `ranks` receives them; it must outlive the
// parsing of `verb`.
CLI::Option* add_ranks_list(CLI::App& verb, std::vector<int>& ranks, const std::string& description);

// Adds the option `name` to `verb`: one number of ranks, from 1 to `most`. A list is refused, and the error adds
// `instead`, which says what to do with one. `ranks` receives the number; it must outlive the parsing of `verb`.
CLI::Option* add_rank_count(CLI::App& verb, const std::string& name, std::optional<int>& ranks, int most,
                            const std::string& description, const std::string& instead);

}  // namespace chexbench::app

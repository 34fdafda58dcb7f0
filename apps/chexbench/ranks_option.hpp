// Options for numbers of ranks, in the same form for every verb: 1,2,4.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace chexbench::app {

// Adds --ranks to `verb`: a list of numbers with commas or spaces. `ranks` receives them; it must outlive the parsing
// of `verb`.
CLI::Option* add_ranks_list(CLI::App& verb, std::vector<int>& ranks, const std::string& description);

// Adds the option `name` to `verb`: one number of ranks, from 1 to `most`. A list is refused, and the error ends with
// the advice `instead`. `ranks` receives the number; it must outlive the parsing of `verb`.
CLI::Option* add_rank_count(CLI::App& verb, const std::string& name, std::optional<int>& ranks, int most,
                            const std::string& description, const std::string& instead);

}  // namespace chexbench::app

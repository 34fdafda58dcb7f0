// Formats the result for a wiki or a pull request, as GitHub-flavoured Markdown.
#pragma once

#include <string>
#include <string_view>

#include "results/record.hpp"

namespace chexbench::report {

// Returns the title, the findings, and the tables of result_tables.hpp. Emulated trials are marked in their rows. The
// text is ASCII if the report is.
std::string markdown(const results::Report& report);

// Escapes `text` so that Markdown shows it literally: it makes no emphasis, link or HTML, and ends no table cell. Line
// ends become blanks.
std::string markdown_escaped(std::string_view text);

}  // namespace chexbench::report

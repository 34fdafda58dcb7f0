// Formats the result for a wiki or a pull request, as GitHub-flavoured Markdown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/derive.hpp"

namespace chexbench::report {

// Returns the title, the answer (analysis/answer.hpp), the trials, the findings, and the other tables of
// result_tables.hpp. Emulated trials are marked in their rows. Commands read `folder`, that of the run, unless it is
// empty. The text is ASCII if the report is.
std::string markdown(const analysis::Evaluation& evaluation, const std::string& folder = "");

// Escapes `text` so that Markdown shows it literally within a line: it makes no emphasis, link, formula or HTML, and
// ends no table cell. Newlines become spaces, and other control characters are shown as \xNN. GitHub's automatic links
// (https://..., @name) still apply.
std::string markdown_escaped(std::string_view text);

// Does the same for text that begins a line, where it must not begin a list or a heading either.
std::string markdown_line(std::string_view text);

// Returns a row of a table, whose cells are escaped.
std::string markdown_row(const std::vector<std::string>& cells);

}  // namespace chexbench::report

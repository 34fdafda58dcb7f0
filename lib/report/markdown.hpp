// The result for a wiki or a pull request: GitHub-flavoured Markdown.
#pragma once

#include <string>
#include <string_view>

#include "results/record.hpp"

namespace chexbench::report {

// The findings, then the two tables of table.hpp; emulated trials are marked in their rows. 7-bit where the report is.
std::string markdown(const results::Report& report);

// `text` so that Markdown shows it as it stands: no emphasis, no link, no HTML, no cell of a table ends early.
std::string markdown_escaped(std::string_view text);

}  // namespace chexbench::report

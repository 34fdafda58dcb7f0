// Makes report.html: the result as one page that works without other files and without a network.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// Returns the page, with findings, charts, tables, environment and resolved specs. It has charts only if this build has
// Chart.js; the tables are the same without. The page of a report without results says that nothing was measured.
std::string html_page(const results::Report& report);

}  // namespace chexbench::report

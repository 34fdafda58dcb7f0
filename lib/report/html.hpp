// report.html: the result as one page that needs nothing else, neither files nor the network.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// Findings, charts, tables, environment and resolved specs. Charts only where this build has Chart.js; the tables are
// the same. A report without results makes a page that says so.
std::string html_page(const results::Report& report);

}  // namespace chexbench::report

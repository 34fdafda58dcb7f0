// Makes report.html and evaluation.html: results as one page that works without other files and without a network.
#pragma once

#include <string>
#include <string_view>

#include "analysis/evaluation.hpp"

namespace chexbench::report {

// Returns the page, with findings, charts, tables, environment and resolved specs. It has charts only if this build has
// Chart.js; the tables are the same without. The page of a report without results says that nothing was measured.
std::string html_page(const analysis::Evaluation& evaluation);

// Returns the page of an evaluation, with charts if this build has Chart.js. `name` is its title, and `json` what
// evaluation.json holds (verbs/evaluate).
std::string evaluation_page(std::string_view name, const std::string& json);

}  // namespace chexbench::report

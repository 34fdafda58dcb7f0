// Makes report.html and evaluation.html: results as one page that works without other files and without a network.
#pragma once

#include <string>
#include <string_view>

#include "analysis/derive.hpp"

namespace chexbench::report {

// Returns the page, with findings, charts, tables, environment and resolved specs. It has charts only if this build has
// Chart.js; the tables do not depend on that. Without results, the page states that nothing was measured.
std::string html_page(const analysis::Evaluation& evaluation);

// Returns the page of an evaluation, with charts if this build has Chart.js. `name` is its title, and `json` the text
// of evaluation.json (verbs/evaluate).
std::string evaluation_page(std::string_view name, const std::string& json);

// The parts of pages that are the same for every report, and for every evaluation. embed.cmake embeds them at build
// time.

// The content of an element of the page, and the source by which a content security policy allows it: 'sha256-BASE64',
// or "" if there is nothing to allow. Both are valid until the program ends.
struct Embedded {
  std::string_view text;
  std::string_view policy_source;
};

// The files of html/ by their kind.
struct PageFiles {
  std::string_view html;  // with {{name}} as placeholders for the other parts
  Embedded css;
  // All scripts of a page, each after those that it uses.
  Embedded report;
  Embedded evaluation;
};

// Returns the embedded files.
PageFiles page_files();

// Returns Chart.js, minified, after a comment with its license. Returns an empty text if this build has no Chart.js.
Embedded chart_library();

}  // namespace chexbench::report

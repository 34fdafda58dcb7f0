// The parts of pages that are the same for every report, and for every evaluation. embed.cmake embeds them at build
// time.
#pragma once

#include <string_view>

namespace chexbench::report {

// What an element of the page holds, and the source by which a content security policy allows it: 'sha256-BASE64', or
// "" if there is nothing to allow. Both live as long as the program.
struct Embedded {
  std::string_view text;
  std::string_view policy_source;
};

// The files of html/ by their kind.
struct PageFiles {
  std::string_view html;  // with {{name}} in the places of the other parts
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

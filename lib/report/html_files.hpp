// The parts of report.html that are the same for every report. embed.cmake embeds them at build time.
#pragma once

#include <string_view>

namespace chexbench::report {

// The files of html/ by their kind. The texts live as long as the program.
struct PageFiles {
  std::string_view html;  // with {{name}} in the places of the other parts
  std::string_view css;
  std::string_view scripts;  // all of them, each after those that it uses
};

// Returns the embedded files.
PageFiles page_files();

// Returns Chart.js, minified, after a comment with its license. Returns an empty text if this build has no Chart.js.
std::string_view chart_library();

}  // namespace chexbench::report

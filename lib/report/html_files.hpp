// The parts of report.html that are the same for every report, embedded at build time.
#pragma once

#include <string_view>

namespace chexbench::report {

// The files of html/, by what they are. Live as long as the program.
struct PageFiles {
  std::string_view html;  // with {{names}} where the other parts go
  std::string_view css;
  std::string_view scripts;  // all of them, in the order in which they need each other
};
PageFiles page_files();

// Chart.js, minified, under its license as a comment; empty where this build has none.
std::string_view chart_library();

}  // namespace chexbench::report

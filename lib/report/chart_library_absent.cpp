// For a build without Chart.js: report.html then has only its tables, and states why.
#include "report/html.hpp"

namespace chexbench::report {

Embedded chart_library() { return {}; }

}  // namespace chexbench::report

// For a build without Chart.js: report.html then has its tables and says why it has no charts.
#include "report/html.hpp"

namespace chexbench::report {

Embedded chart_library() { return {}; }

}  // namespace chexbench::report

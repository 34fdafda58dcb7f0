// Formats the result for people who read it in a terminal.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// Returns plain text with aligned columns: the trials with their figures, what their flags mean, ablations, what was
// learned, where the time went, and the findings. Emulated trials are marked in their rows, and the source of their
// speed is named below the table. The text is ASCII if the report is.
std::string result_table(const results::Report& report);

}  // namespace chexbench::report

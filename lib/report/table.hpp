// The result for people, on stdout: plain text, 7-bit, columns aligned.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// The trials with their figures, what the flags in them mean, where the time went, and the findings. Emulated trials
// are marked in their row, and the source of their speed stands below the table.
std::string result_table(const results::Report& report);

}  // namespace chexbench::report

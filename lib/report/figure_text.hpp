// Formats figures as the tables of all verbs show them: rounded, with their unit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/statistics.hpp"

namespace chexbench::report {

std::string gigabytes(std::uint64_t bytes);                             // "1.5 GB"
std::string percent(double share);                                      // "12.3 %" for 0.123
std::string times(double ratio);                                        // "1.97 x"
std::string interval_text(const std::optional<measure::Ratio>& ratio);  // "1.95 .. 2.02", or ""

}  // namespace chexbench::report

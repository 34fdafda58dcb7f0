// Formats the result like Google Benchmark's output, for tools that compare such files, above all its compare.py.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// Returns the JSON of --benchmark_format=json. Each finished trial (swept_keys.hpp) is a benchmark with a row for
// each repeat that counts (results::counted_repeats) and, for two or more, rows for mean, median, stddev and cv.
// real_time and cpu_time are nanoseconds per image: 1e9 / images/s, and the CPU time of all ranks / images trained.
// items_per_second is images/s. Logs a warning for each trial that is left out.
// @throws DataError if no trial was measured completely
std::string google_benchmark_json(const results::Report& report);

}  // namespace chexbench::report

// Formats the result as Google Benchmark writes it, for tools that compare such files: its own compare.py above all.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// Returns the JSON of --benchmark_format=json. Each finished trial (swept_keys.hpp) is a benchmark with a row for
// each repeat that counts (results::counted_repeats) and, from two on, the rows of its mean, median, stddev and cv.
// real_time and cpu_time are nanoseconds an image: 1e9 / images/s, and the CPU time of all ranks / images trained.
// items_per_second is images/s. Logs a warning for each trial that is left out.
// @throws DataError if no trial was measured to its end
std::string google_benchmark_json(const results::Report& report);

}  // namespace chexbench::report

// Writes trace.json: the traced repeat of each trial in Chrome's trace event format, for Perfetto and chrome://tracing.
// Each rank is a process, with rows for its measured steps with their parts, the threads of its pipeline, its
// communication, and the depths of its queues.
#pragma once

#include <functional>
#include <string_view>

#include "results/record.hpp"

namespace chexbench::report {

// Returns whether any trial of the report was traced.
bool has_trace(const results::Report& report);

// Passes the file to `write` piece by piece, because it can be hundreds of MB. Times are in microseconds by the clock
// of end_s in steps.csv, on the host of rank 0. Throws only what `write` throws.
void write_trace(const results::Report& report, const std::function<void(std::string_view)>& write);

}  // namespace chexbench::report

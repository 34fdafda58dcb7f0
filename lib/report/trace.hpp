// trace.json: a trial's last repeat in Chrome's trace event format, for Perfetto and chrome://tracing. A process is a
// rank; its rows are its measured steps with their parts, the threads of its pipeline, its communication, and the
// depths of its queues.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "measure/trace.hpp"
#include "report/record.hpp"

namespace chexbench::report {

// The spans as events, one a line, "" where there are none. `clock_shift_s` is added to this rank's clock.
std::string trace_events(const measure::Trace& trace, int rank, double clock_shift_s);

// A rank's trace on its way to rank 0.
std::string to_text(const RankTrace& trace);
RankTrace rank_trace_from_text(std::string_view text);

// Whether any trial of the report was traced.
bool has_trace(const Report& report);

// Hands the file to `write` piece by piece. Times are microseconds of the clock of end_s in steps.csv, on rank 0's
// host.
void write_trace(const Report& report, const std::function<void(std::string_view)>& write);

}  // namespace chexbench::report

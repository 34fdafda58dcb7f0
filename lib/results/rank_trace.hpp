// Converts the trace of one rank to text: its spans to events of trace.json, and the whole to a message for rank 0.
// Each rank does this itself, so that rank 0 only has to concatenate.
#pragma once

#include <string>
#include <string_view>

#include "measure/trace.hpp"
#include "results/record.hpp"

namespace chexbench::results {

// Returns the spans as events, one per line, or "" if there are none. Each thread becomes a row of the rank (see
// TracePlace). `clock_shift_s` (seconds) is added to all times; it converts the clock of this rank's host to rank 0's.
std::string trace_events(const measure::Trace& trace, int rank, double clock_shift_s);

// Packs a rank's trace into a message for rank 0, where rank_trace_from_text() unpacks it. The text must come from
// to_text(); it is not checked.
std::string to_text(const RankTrace& trace);
RankTrace rank_trace_from_text(std::string_view text);

}  // namespace chexbench::results

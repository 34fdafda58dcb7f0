// The trace of one rank: its spans as trace events, and as text on its way to rank 0.
#pragma once

#include <string>
#include <string_view>

#include "measure/trace.hpp"
#include "results/record.hpp"

namespace chexbench::results {

// Returns the spans as events, one per line, or "" if there are none. Adds `clock_shift_s` to this rank's clock.
std::string trace_events(const measure::Trace& trace, int rank, double clock_shift_s);

// Packs a rank's trace into text for rank 0, and unpacks it there.
std::string to_text(const RankTrace& trace);
RankTrace rank_trace_from_text(std::string_view text);

}  // namespace chexbench::results

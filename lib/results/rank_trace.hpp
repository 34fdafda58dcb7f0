// Converts the spans of one rank to events of trace.json. Each rank does this itself, so that rank 0 only has to
// concatenate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "measure/trace.hpp"
#include "results/record.hpp"

namespace chexbench::results {

// Returns the spans as events, one per line, or "" if there are none. Each thread becomes a row of the rank (see
// TracePlace). `clock_shift_s` (seconds) is added to all times, to convert the clock of this rank's host to rank 0's.
std::string trace_events(const measure::Trace& trace, int rank, double clock_shift_s);

// Formats single events of Chrome's trace event format (JSON), which Perfetto and chrome://tracing read. Every function
// that returns an event returns one line, which ends with ",\n".

// The rows of a rank: its steps, then its threads.
inline constexpr int kStepsRow = 1;
inline constexpr int kFirstThreadRow = 2;

// Where an event is drawn. Its pid is the rank. Its tid is 1000 (rank + 1) + row, because in Perfetto a tid equal to
// the pid is the main thread of the process, and tid 0 the idle thread.
struct TracePlace {
  int rank = 0;
  int row = 0;
};

// An event's name, and the category by which viewers filter.
struct TraceLabel {
  std::string_view name;
  std::string_view category;
};

// The time of a span. Whole nanoseconds, so that adjacent spans stay adjacent in the file.
struct TraceTime {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};
// Rounds to the nearest nanosecond.
std::int64_t nanoseconds(double seconds);

// Returns `text` as a JSON string, with its quotes. Bytes that are not UTF-8 are replaced.
std::string json_quoted(std::string_view text);

// Returns a complete event ("X"). `arguments` are the members of a JSON object, without its braces.
std::string span_event(TracePlace place, const TraceLabel& label, TraceTime time, std::string_view arguments);
// Returns the value of a counter at a time. Viewers draw it until the next event of the same name.
std::string counter_event(int rank, std::string_view name, std::int64_t at_ns, std::uint64_t value);
// Returns an event that names a row, or the process of a rank.
std::string row_name_event(TracePlace place, std::string_view name);
std::string rank_name_event(int rank, std::string_view name);

}  // namespace chexbench::results

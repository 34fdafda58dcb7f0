// One event of Chrome's trace event format, as text that ends with ",\n".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chexbench::results {

// Rows of a rank: its steps, then its threads.
inline constexpr int kStepsRow = 1;
inline constexpr int kFirstThreadRow = 2;

// Of an event. pid is the rank; tid is 1000 (rank + 1) + row, as Perfetto takes a tid that equals the pid for the
// process's main thread, and 0 for the idle thread.
struct TracePlace {
  int rank = 0;
  int row = 0;
};

struct TraceLabel {
  std::string_view name;
  std::string_view category;
};

// Whole nanoseconds, so that spans that touch still touch when written.
struct TraceTime {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};
std::int64_t nanoseconds(double seconds);

// `text` as a JSON string, with its quotes.
std::string json_quoted(std::string_view text);

// `arguments` are the members of a JSON object, without its braces.
std::string span_event(TracePlace place, const TraceLabel& label, TraceTime time, std::string_view arguments);
std::string counter_event(int rank, std::string_view name, std::int64_t at_ns, std::uint64_t value);
std::string row_name_event(TracePlace place, std::string_view name);
std::string rank_name_event(int rank, std::string_view name);

}  // namespace chexbench::results

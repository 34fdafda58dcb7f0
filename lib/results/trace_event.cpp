#include "results/trace_event.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace chexbench::results {
namespace {

// The format has microseconds; three decimals keep whole nanoseconds.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

int tid(TracePlace place) { return 1000 * (place.rank + 1) + place.row; }

}  // namespace

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

std::string json_quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string span_event(TracePlace place, const TraceLabel& label, TraceTime time, std::string_view arguments) {
  return fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"cat":"{}","name":{},"args":{{{}}}}})"
                     ",\n",
                     place.rank, tid(place), microseconds(time.begin_ns), microseconds(time.end_ns - time.begin_ns),
                     label.category, json_quoted(label.name), arguments);
}

std::string counter_event(int rank, std::string_view name, std::int64_t at_ns, std::uint64_t value) {
  return fmt::format(R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{"elements":{}}}}})"
                     ",\n",
                     rank, microseconds(at_ns), json_quoted(name), value);
}

std::string row_name_event(TracePlace place, std::string_view name) {
  return fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})"
                     ",\n",
                     place.rank, tid(place), json_quoted(name));
}

std::string rank_name_event(int rank, std::string_view name) {
  return fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})"
                     ",\n",
                     rank, json_quoted(name));
}

}  // namespace chexbench::results

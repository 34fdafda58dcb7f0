#include "results/rank_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace chexbench::results {
namespace {

using measure::Span;
using measure::SpanKind;

const char* suffix(SpanKind kind) {
  switch (kind) {
    case SpanKind::waits_for_input:
      return ": waits for input";
    case SpanKind::waits_for_room:
      return ": waits for room";
    case SpanKind::waits_for_result:
      return ": waits for a result";
    default:
      return "";
  }
}

const char* category(SpanKind kind) {
  if (kind == SpanKind::op || kind == SpanKind::part) return "op";
  return kind == SpanKind::bucket ? "communication" : "wait";
}

// If two spans begin together, viewers treat the first one as the outer one.
void put_outer_first(std::vector<Span>& spans) {
  std::ranges::stable_sort(spans, [](const Span& a, const Span& b) {
    return a.begin_s != b.begin_s ? a.begin_s < b.begin_s : a.end_s > b.end_s;
  });
}

}  // namespace

std::string trace_events(const measure::Trace& trace, int rank, double clock_shift_s) {
  std::string text;
  for (const measure::ThreadSpans& thread : trace.threads) {
    const TracePlace place{.rank = rank, .row = kFirstThreadRow + thread.row};
    text += row_name_event(place, thread.name);
    std::vector<Span> spans = thread.spans;
    put_outer_first(spans);
    for (const Span& span : spans) {
      const auto name = fmt::format("{}{}", span.name, suffix(span.kind));
      const char* detail = span.kind == SpanKind::bucket ? "bytes" : "op_index";
      text += span_event(
          place, {.name = name, .category = category(span.kind)},
          {.begin_ns = nanoseconds(span.begin_s + clock_shift_s), .end_ns = nanoseconds(span.end_s + clock_shift_s)},
          fmt::format(R"("{}":{})", detail, span.detail));
    }
  }
  return text;
}

namespace {

// The format uses microseconds; three decimals keep whole nanoseconds.
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

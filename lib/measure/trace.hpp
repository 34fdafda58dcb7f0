// Spans of time that the threads of this process record for trace.json. Off unless a recording is under way: a place
// that could record then costs one relaxed load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chexbench::measure {

enum class SpanKind { op, waits_for_input, waits_for_room, waits_for_result, part, bucket };

struct Span {
  const char* name = "";  // a literal, or of interned()
  SpanKind kind = SpanKind::op;
  double begin_s = 0;  // now_s()
  double end_s = 0;
  std::int64_t detail = 0;  // op: its place in the op list; bucket: bytes
};

// Spans of one row: of one thread, of several with one name that lived one after the other, or of a device.
struct ThreadSpans {
  int row = 0;  // from 0; the same for the same name in all recordings of the process
  std::string name;
  std::vector<Span> spans;  // by their end
};

struct Trace {
  std::vector<ThreadSpans> threads;
  std::uint64_t dropped_spans = 0;  // that came when the recording was full
};

// Records from construction on; one at a time in a process.
class TraceRecording {
 public:
  // Keeps the first `most_spans`, so that memory and file stay bounded.
  explicit TraceRecording(std::size_t most_spans);
  ~TraceRecording();
  TraceRecording(const TraceRecording&) = delete;
  TraceRecording& operator=(const TraceRecording&) = delete;

  // Ends it. What a thread records at the same moment may be left out.
  Trace take();
};

namespace detail {
inline std::atomic<bool> tracing = false;
}  // namespace detail

// Thread-safe, as are all below.
inline bool is_tracing() { return detail::tracing.load(std::memory_order_relaxed); }

// To be called by the thread whose time it was, where is_tracing(). Spans of a thread must nest.
void record_span(const Span& span);

// The same of a device's time, in the row `row` that is no thread's.
void record_device_span(const std::string& row, const Span& span);

// A copy of `name` that lives as long as the process.
const char* interned(const std::string& name);

}  // namespace chexbench::measure

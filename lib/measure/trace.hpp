// Time spans that the threads of this process record for trace.json. Recording is off unless a TraceRecording is
// active; while off, each recording site costs one relaxed load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chexbench::measure {

// What a span shows: a working op; an op waiting for its input, for room in its output queue, or for a result; a part
// of an op's work; or the averaging of a gradient bucket.
enum class SpanKind { op, waits_for_input, waits_for_room, waits_for_result, part, bucket };

struct Span {
  const char* name = "";  // a string literal, or the result of interned()
  SpanKind kind = SpanKind::op;
  double begin_s = 0;  // now_s()
  double end_s = 0;
  std::int64_t detail = 0;  // op: its index in the op list; bucket: its bytes
};

// The spans of one row of the trace: of one thread, of several threads with the same name that ran one after the
// other, or of a device.
struct ThreadSpans {
  int row = 0;  // from 0; the same name has the same row in all recordings of the process
  std::string name;
  std::vector<Span> spans;  // ordered by their end
};

// The result of a recording.
struct Trace {
  std::vector<ThreadSpans> threads;
  std::uint64_t dropped_spans = 0;  // spans that arrived after the recording was full
};

// Records from its construction on. A process may have only one recording at a time.
class TraceRecording {
 public:
  // Keeps the first `most_spans` spans, so that memory and file size stay bounded, and counts the rest as dropped: a
  // ring buffer would lose warm-up and the first steps.
  explicit TraceRecording(std::size_t most_spans);
  ~TraceRecording();
  TraceRecording(const TraceRecording&) = delete;
  TraceRecording& operator=(const TraceRecording&) = delete;

  // Ends the recording and returns its spans. A span that a thread records at the same moment may be missing.
  Trace take();
};

namespace detail {
inline std::atomic<bool> tracing = false;
}  // namespace detail

// Returns whether a recording is active. Thread-safe, as are all functions below.
inline bool is_tracing() { return detail::tracing.load(std::memory_order_relaxed); }

// Records a span of the calling thread. Call it only while is_tracing() is true. The spans of a thread must nest.
void record_span(const Span& span);

// Records a span of a device in the row `row`, which belongs to no thread. Call it only while is_tracing() is true.
void record_device_span(const std::string& row, const Span& span);

// Returns a copy of `name` that lives as long as the process.
const char* interned(const std::string& name);

}  // namespace chexbench::measure

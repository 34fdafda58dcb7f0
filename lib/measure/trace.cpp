#include "measure/trace.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace chexbench::measure {
namespace {

// The spans of one row. Only the row's thread takes the mutex, and take() at the end, so it is never contended
// meanwhile.
struct Buffer {
  std::mutex mutex;
  ThreadSpans thread;
};

// The state of the active recording.
struct Recording {
  std::mutex mutex;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::map<std::pair<std::string, std::ptrdiff_t>, int> rows;  // key: name, and index among the threads of that name
  std::set<std::string> names;
  std::atomic<std::int64_t> room = 0;
  // Distinguishes the buffers of an earlier recording from those of this one.
  std::atomic<std::uint64_t> number = 0;
};

// It is never destroyed, because threads may record while the process ends.
Recording& active_recording() {
  static Recording& recording = *new Recording;  // NOLINT(cppcoreguidelines-owning-memory)
  return recording;
}

std::string name_of_this_thread() {
  if (gettid() == getpid()) return "main";
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

// A `repeat` op restarts the threads of its input in each epoch. The new threads continue in the rows of the ended
// ones.
std::shared_ptr<Buffer> join_recording(const std::string& name) {
  Recording& all = active_recording();
  const std::lock_guard lock(all.mutex);
  std::ptrdiff_t namesakes = 0;
  for (const std::shared_ptr<Buffer>& buffer : all.buffers) {
    if (buffer->thread.name != name) continue;
    if (buffer.use_count() == 1) return buffer;  // its thread has ended
    ++namesakes;
  }
  const auto [row, is_new] = all.rows.try_emplace({name, namesakes}, static_cast<int>(all.rows.size()));
  auto buffer = std::make_shared<Buffer>();
  buffer->thread = {.row = row->second, .name = name, .spans = {}};
  return all.buffers.emplace_back(std::move(buffer));
}

}  // namespace

TraceRecording::TraceRecording(std::size_t most_spans) {
  Recording& all = active_recording();
  const std::lock_guard lock(all.mutex);
  all.buffers.clear();
  all.room = static_cast<std::int64_t>(most_spans);
  ++all.number;
  detail::tracing = true;
}

TraceRecording::~TraceRecording() { detail::tracing = false; }

Trace TraceRecording::take() {
  detail::tracing = false;
  Recording& all = active_recording();
  const std::lock_guard lock(all.mutex);
  Trace trace;
  for (const std::shared_ptr<Buffer>& buffer : all.buffers) {
    const std::lock_guard buffer_lock(buffer->mutex);
    trace.threads.push_back(std::move(buffer->thread));
  }
  all.buffers.clear();
  trace.dropped_spans = static_cast<std::uint64_t>(std::max<std::int64_t>(0, -all.room));
  return trace;
}

void record_span(const Span& span) {
  thread_local std::shared_ptr<Buffer> mine;
  thread_local std::uint64_t number = 0;
  Recording& all = active_recording();
  if (all.room.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
  if (const std::uint64_t current = all.number; number != current) {
    mine = join_recording(name_of_this_thread());
    number = current;  // only here, because allocating the row may fail
  }
  const std::lock_guard lock(mine->mutex);
  mine->thread.spans.push_back(span);
}

void record_device_span(const std::string& row, const Span& span) {
  if (active_recording().room.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
  const std::shared_ptr<Buffer> buffer = join_recording(row);
  const std::lock_guard lock(buffer->mutex);
  buffer->thread.spans.push_back(span);
}

const char* interned(const std::string& name) {
  Recording& all = active_recording();
  const std::lock_guard lock(all.mutex);
  return all.names.insert(name).first->c_str();
}

}  // namespace chexbench::measure

// Streams, events, copies and graphs of the CUDA runtime. Queued work runs in the order of its stream. All functions
// @throws DeviceError if CUDA reports an error, which may come from work that was queued earlier
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda {

using kernels::Stream;

// Owns a stream that has no implicit order with the default stream.
class OwnedStream {
 public:
  OwnedStream();
  ~OwnedStream();
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  Stream get() const { return stream_; }

 private:
  Stream stream_ = nullptr;
};

// Owns an event: a point in the work of a stream.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Records the event for other streams: work queued on a stream after wait_for() runs after this point. In a capture,
  // the event is an edge of the graph.
  void record(Stream stream);
  // Records the event for the host, which can then use done() and elapsed_s(). Also works while the stream is being
  // captured; then each launch of the graph records the event again.
  void mark(Stream stream);
  // Whether the device has passed the event. True before the first record() or mark(). Never waits.
  bool done() const;
  void* handle() const { return event_; }  // cudaEvent_t

 private:
  void* event_ = nullptr;
};

// Returns the seconds between two events that were marked and are done.
double elapsed_s(const Event& from, const Event& to);
// Makes all later work of the stream wait for the event, without waiting on the host.
void wait_for(Stream stream, const Event& event);
// Waits on the host for everything that is queued on the stream.
void synchronize(Stream stream);

// Queue copies between host and device; clear() queues setting all bytes to zero. Pinned host memory must stay valid
// until the copy is done; other host memory may be changed as soon as the call returns. If `bytes` is 0, nothing is
// queued and the pointers may be null.
void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream);
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream);
// Queues a copy between two places of the device's memory that do not overlap.
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream);
// Rows of a matrix: the first `row_bytes` of every `pitch_bytes`.
struct RowBytes {
  std::size_t row_bytes = 0;
  std::size_t pitch_bytes = 0;
  std::size_t rows = 0;
};
// Queues a copy of rows, which are packed on the host.
void copy_rows_to_host(void* to, const void* from, const RowBytes& rows, Stream stream);
void clear(void* memory, std::size_t bytes, Stream stream);

// The fetch functions copy values from device memory to the host: they queue the copy on `stream` and wait for that
// stream.
template <typename T>
std::vector<T> fetch(const void* from, std::size_t count, Stream stream) {
  std::vector<T> values(count);
  copy_to_host(values.data(), from, count * sizeof(T), stream);
  synchronize(stream);
  return values;
}

template <typename T>
std::vector<T> fetch_rows(const void* from, const RowBytes& rows, Stream stream) {
  std::vector<T> values(rows.rows * rows.row_bytes / sizeof(T));
  copy_rows_to_host(values.data(), from, rows, stream);
  synchronize(stream);
  return values;
}

template <typename T>
std::vector<float> widened(const std::vector<T>& values) {
  std::vector<float> wide(values.size());
  std::ranges::transform(values, wide.begin(), kernels::Element<T>::widen);
  return wide;
}

inline std::vector<float> fetch_as_floats(FloatType type, const void* from, std::size_t count, Stream stream) {
  if (type == FloatType::f32) return fetch<float>(from, count, stream);
  return type == FloatType::fp16 ? widened(fetch<kernels::Half>(from, count, stream))
                                 : widened(fetch<kernels::BFloat16>(from, count, stream));
}

inline std::vector<float> fetch_rows_as_floats(FloatType type, const void* from, const RowBytes& rows, Stream stream) {
  if (type == FloatType::f32) return fetch_rows<float>(from, rows, stream);
  return type == FloatType::fp16 ? widened(fetch_rows<kernels::Half>(from, rows, stream))
                                 : widened(fetch_rows<kernels::BFloat16>(from, rows, stream));
}

// Owns an executable CUDA graph: work that is recorded once, and later launched as a whole. Movable; empty after
// default construction and after a move. Not thread-safe.
class Graph {
 public:
  // Records what `queue` queues on the stream (and on streams that it forks to and joins again); none of it runs. The
  // capture is thread-local, so other threads may use the device meanwhile. If `queue` throws, the capture ends and
  // the exception is passed on.
  // @throws DeviceError if some of the queued work cannot be captured
  static Graph capture(Stream stream, const std::function<void()>& queue);
  Graph() = default;
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();

  explicit operator bool() const { return executable_ != nullptr; }
  // Queues the whole graph on the stream. The graph must not be empty. @throws DeviceError if CUDA refuses it
  void launch(Stream stream) const;

 private:
  void* executable_ = nullptr;  // cudaGraphExec_t
};

}  // namespace chexbench::engine::cuda

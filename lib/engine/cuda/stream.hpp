// Streams, events and copies of the CUDA runtime. What is queued runs in the order of its stream. All @throws
// DeviceError where CUDA reports one: that may be the fault of work queued earlier.
#pragma once

#include <cstddef>

#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda {

using kernels::Stream;

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

// A place in a stream.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Between streams: what is queued there behind wait_for() comes after this. In a capture it is an edge of the graph.
  void record(Stream stream);
  // For the host: done() and elapsed_s(), also where the stream is being captured; then each replay records it anew.
  void mark(Stream stream);
  // Whether the device has passed it; true before the first record() or mark().
  bool done() const;
  void* handle() const { return event_; }  // cudaEvent_t

 private:
  void* event_ = nullptr;
};

// Between two events that were marked and are done.
double elapsed_s(const Event& from, const Event& to);
void wait_for(Stream stream, const Event& event);
// Waits on the host for all that is queued.
void synchronize(Stream stream);

// Between host and device. Host memory that is pinned must stay until the copy is done; other memory may be changed at
// once. clear() sets bytes to zero. Where there are none, nothing is queued, and pointers may be null.
void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream);
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream);
void clear(void* memory, std::size_t bytes, Stream stream);

}  // namespace chexbench::engine::cuda

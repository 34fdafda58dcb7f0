// A CUDA graph: work that is recorded once, and later launched as a whole.
#pragma once

#include <functional>

#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {

// Owns an executable graph. Movable; empty after default construction and after a move. Not thread-safe.
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

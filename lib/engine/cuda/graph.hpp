// A CUDA graph: work that was queued once, and is launched as a whole from then on.
#pragma once

#include <functional>

#include "engine/cuda/stream.hpp"

namespace chexbench::engine::cuda {

class Graph {
 public:
  // Records what `queue` queues on the stream (and on streams that it forks to and joins again); nothing of it runs.
  // Other threads may use the device meanwhile. @throws DeviceError where something queued cannot be captured
  static Graph capture(Stream stream, const std::function<void()>& queue);
  Graph() = default;
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();

  explicit operator bool() const { return executable_ != nullptr; }
  void launch(Stream stream) const;

 private:
  void* executable_ = nullptr;  // cudaGraphExec_t
};

}  // namespace chexbench::engine::cuda

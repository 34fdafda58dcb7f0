// Where the weight gradients of convolutions are queued: on the main stream, or on a second one, where they run
// concurrently with the following passes of backward. Those are bound by memory, weight gradients by arithmetic.
#pragma once

#include <optional>

#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {

// Work alternates: fork() and a weight gradient, then join() before the next one, so that at most one weight gradient
// runs next to the main stream, and the memory plan knows how long its operands are read (memory_plan.hpp). All work
// may be captured into a CUDA graph. Not thread-safe.
class WeightGradientStream {
 public:
  // Without `concurrent`, fork() returns the main stream and join() does nothing.
  // @throws DeviceError if CUDA cannot create the stream
  explicit WeightGradientStream(bool concurrent);

  // Returns the stream for a weight gradient, which will run after all work already queued on `main`.
  // For this and join(): @throws DeviceError if CUDA reports an error
  Stream fork(Stream main);
  // Makes later work of `main` wait for the weight gradient. Returns whether there was one to wait for.
  bool join(Stream main);
  // Whether a weight gradient that was not joined may be running.
  bool is_forked() const { return is_forked_; }

 private:
  struct Beside {
    OwnedStream stream;
    Event forked, done;
  };
  std::optional<Beside> beside_;
  bool is_forked_ = false;
};

}  // namespace chexbench::engine::cuda

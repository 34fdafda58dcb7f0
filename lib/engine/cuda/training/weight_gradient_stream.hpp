// Where the weight gradients of convolutions are queued: on the stream of everything else, or on a second one, where
// they run beside the passes of backward that follow them. Those are bound by memory, weight gradients by arithmetic.
#pragma once

#include <optional>

#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {

// Work alternates: fork() and a weight gradient, then join() before the next one, so that at most one weight gradient
// runs beside the main stream, and a plan of memory knows until when its operands are read (memory_plan.hpp). All work
// may be captured into a CUDA graph. Not thread-safe.
class WeightGradientStream {
 public:
  // Without `concurrent`, fork() returns the main stream and join() does nothing.
  // @throws DeviceError if CUDA cannot create the stream
  explicit WeightGradientStream(bool concurrent);

  // Returns the stream for a weight gradient, which will run after everything that is queued on `main` by now.
  // For this and join(): @throws DeviceError if CUDA reports an error
  Stream fork(Stream main);
  // Makes later work of `main` wait for the weight gradient. Returns whether there was one to wait for.
  bool join(Stream main);
  // Whether a weight gradient may be running that was not joined.
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

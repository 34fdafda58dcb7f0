// Averages the gradients of a step's batches (training.accumulate_steps). Backward writes the gradients of each batch
// to the same place, so they are added to an f32 sum before the next batch overwrites them.
#pragma once

#include <cstddef>

#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/program/addresses.hpp"
#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {

// Queues kernels on a stream and waits for nothing, so all calls may be captured into a CUDA graph. `addresses` must
// outlive this object. Thread-safe: all functions are const.
// @throws DeviceError if CUDA refuses a launch; this applies to add() and both average functions.
class Accumulation {
 public:
  explicit Accumulation(const Addresses& addresses) : addresses_(addresses) {}

  // Returns the number of batches in a step.
  int batches() const { return addresses_.config().batches_of_step; }
  // Adds the gradients of a batch that does not end its step to the sums. `begins` is true for the first batch of a
  // step: it overwrites the sums instead.
  void add(bool begins, Stream stream) const;
  // Replaces `count` gradients from index `begin` on (in elements of the flat array of `kind`) by the mean over the
  // step's batches. Call it in the step's last backward, after these gradients are complete. Does nothing if a step
  // has one batch.
  void average(ParameterKind kind, std::size_t begin, std::size_t count, Stream stream) const;
  // The same for all gradients of both kinds.
  void average_all(Stream stream) const;

 private:
  kernels::AccumulateCall call(ParameterKind kind, std::size_t begin, std::size_t count) const;

  const Addresses& addresses_;
};

}  // namespace chexbench::engine::cuda

// Averages the gradients of the batches of one step (training.accumulate_steps), each of which backward writes to the
// same memory.
#pragma once

#include <cstddef>
#include <span>

#include "engine/onednn/parameter_store.hpp"

namespace chexbench::engine::onednn {

// Not thread-safe. With one batch per step it holds no memory and does nothing.
class Accumulation {
 public:
  // `gradients` is the memory that backward writes to; it must outlive this object.
  // @throws std::bad_alloc if there is no memory for the sums
  Accumulation(std::span<float> gradients, int batches);

  // Must be called before the backward pass of batch `batch` of a step; batches count from 0.
  void begin(int batch);
  // Must be called when backward has completed the first `ready` gradients, which it does in ascending order. Adds
  // them up; in the step's last batch, replaces them by the mean over the step's batches.
  void complete(std::size_t ready);
  std::size_t held_bytes() const { return sum_.size() * sizeof(float); }

 private:
  const std::span<float> gradients_;
  const int batches_;
  int batch_ = 0;
  std::size_t done_ = 0;
  FloatArray sum_;
};

}  // namespace chexbench::engine::onednn

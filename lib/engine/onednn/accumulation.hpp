// Averages the gradients of a step's batches, which backward writes to the same place one after the other.
#pragma once

#include <cstddef>
#include <span>

#include "engine/onednn/parameter_store.hpp"

namespace chexbench::engine {

// Not thread-safe. With one batch a step it holds no memory and does nothing.
class Accumulation {
 public:
  // `gradients` is where backward writes. It must outlive this.
  Accumulation(std::span<float> gradients, int batches);

  // Backward of batch `batch` (from 0 on) of a step begins.
  void begin(int batch);
  // It has completed the first `ready` gradients; they become ready in ascending order. Those of the step's last batch
  // are replaced by the mean over all of its batches.
  void complete(std::size_t ready);
  std::size_t held_bytes() const { return sum_.size() * sizeof(float); }

 private:
  const std::span<float> gradients_;
  const int batches_;
  int batch_ = 0;
  std::size_t done_ = 0;
  FloatArray sum_;
};

}  // namespace chexbench::engine

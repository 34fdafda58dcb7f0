// What happens to the flat gradient array while backward runs: it is averaged over the batches of a step, and its
// buckets go to the reducer as soon as they are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/reducer.hpp"
#include "engine/onednn/parameter_store.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine::onednn {

// The flat gradient array, cut into buckets by model::plan_buckets. Not thread-safe.
class Buckets {
 public:
  // `counts` is the number of elements of each parameter, in the order in which backward completes them; they add up to
  // gradients.size(). `gradients` must outlive this object.
  Buckets(std::span<float> gradients, const std::vector<std::int64_t>& counts, model::BucketLimits limits);

  // Must be called before each backward pass.
  void begin_step() { next_ = 0; }
  // Must be called when backward has completed the first `ready` elements, which it does in ascending order. Gives the
  // reducer each newly complete bucket. @throws DeviceError if another rank was lost
  void complete(std::size_t ready, Reducer& reducer);
  const std::vector<BucketSpan>& spans() const { return spans_; }

 private:
  std::vector<BucketSpan> spans_;
  std::vector<std::size_t> ends_;  // where each bucket ends, in elements
  std::size_t next_ = 0;
};

// Averages the gradients of the batches of one step (training.accumulate_steps), each of which backward writes to the
// same memory. Not thread-safe. With one batch per step it allocates nothing and does nothing.
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

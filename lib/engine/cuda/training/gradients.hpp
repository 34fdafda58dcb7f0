// What happens to gradients between backward and the update: they are averaged over the batches of a step, and handed
// to the reducer, which averages them over the ranks.
#pragma once

#include <cstddef>
#include <deque>

#include "core/reducer.hpp"
#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/program/addresses.hpp"
#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {

// Averages the gradients of a step's batches (training.accumulate_steps). Backward writes the gradients of each batch
// to the same place, so they are added to an f32 sum before the next batch overwrites them. Queues kernels on a stream
// and waits for nothing, so all calls may be captured into a CUDA graph. `addresses` must outlive this object.
// Thread-safe: all functions are const.
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

// Hands gradients to the reducer bucket by bucket, each with an event that fires when the bucket is complete. Cuts the
// matrices' gradients by model::plan_buckets; the vectors are few and form one bucket. If a step has several batches, a
// bucket of the last batch is first averaged over the batches. References must outlive this object. Not thread-safe.
class DeviceBuckets {
 public:
  // @throws DeviceError if CUDA cannot create events
  DeviceBuckets(const Addresses& addresses, const Accumulation& accumulation, const spec::CommSpec& comm);

  // Call it before the backward of a step's last batch.
  void begin_step() {
    next_ = 0;
    vectors_reduced_ = false;
  }
  // Call when the first `matrices` and `vectors` elements of the flat gradients are complete once the stream has
  // reached this point. Hands every bucket that this completes to the reducer. Does nothing if there is one rank.
  // @throws DeviceError if CUDA reports an error or another rank was lost
  void complete(std::size_t matrices, std::size_t vectors, Stream stream, Reducer& reducer);

  // A run of gradients of one kind.
  struct Bucket {
    ParameterKind kind = ParameterKind::matrix;
    BucketSpan span;
    std::size_t end = 0;  // the number of elements of its kind that must be complete
  };
  const std::vector<Bucket>& matrices() const { return matrices_; }
  const Bucket& vectors() const { return vectors_; }

 private:
  void reduce(const Bucket& bucket, Event& ready, Stream stream, Reducer& reducer);

  const Accumulation& accumulation_;
  std::vector<Bucket> matrices_;
  Bucket vectors_;
  // One event for each bucket, the last for the vectors: a captured graph distinguishes its dependencies by their
  // events.
  std::deque<Event> ready_;
  std::size_t next_ = 0;
  bool vectors_reduced_ = false;
};

}  // namespace chexbench::engine::cuda

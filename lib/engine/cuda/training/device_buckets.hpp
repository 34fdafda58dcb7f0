// Hands gradients to the reducer bucket by bucket, each with an event that fires when the bucket is complete.
#pragma once

#include <deque>

#include "core/reducer.hpp"
#include "engine/cuda/runtime/stream.hpp"
#include "engine/cuda/training/accumulation.hpp"

namespace chexbench::engine::cuda {

// Cuts the matrices' gradients by model::plan_buckets; the vectors are few and form one bucket. If a step has several
// batches, a bucket of the last batch is first averaged over the batches. References must outlive this object. Not
// thread-safe.
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

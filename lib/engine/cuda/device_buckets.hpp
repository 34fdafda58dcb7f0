// Hands gradients to the reducer bucket by bucket, each with the event that says that it is complete.
#pragma once

#include <deque>

#include "core/reducer.hpp"
#include "engine/cuda/accumulation.hpp"
#include "engine/cuda/stream.hpp"

namespace chexbench::engine::cuda {

// Matrices are cut by model::plan_buckets; vectors are few and go in one bucket. Where a step has several batches, a
// bucket of the last one is averaged over them first. Not thread-safe; references must outlive it.
class DeviceBuckets {
 public:
  DeviceBuckets(const Addresses& addresses, const Accumulation& accumulation, const spec::CommSpec& comm);

  // Backward of a step's last batch begins.
  void begin_step() {
    next_ = 0;
    vectors_reduced_ = false;
  }
  // So many elements of the flat gradients are complete once the stream has come here.
  void complete(std::size_t matrices, std::size_t vectors, Stream stream, Reducer& reducer);

  struct Bucket {
    ParameterKind kind = ParameterKind::matrix;
    BucketSpan span;
    std::size_t end = 0;  // elements of its kind that must be complete
  };
  const std::vector<Bucket>& matrices() const { return matrices_; }
  const Bucket& vectors() const { return vectors_; }

 private:
  void reduce(const Bucket& bucket, Event& ready, Stream stream, Reducer& reducer);

  const Accumulation& accumulation_;
  std::vector<Bucket> matrices_;
  Bucket vectors_;
  std::deque<Event> ready_;  // one a bucket, the last for the vectors: a graph knows them apart
  std::size_t next_ = 0;
  bool vectors_reduced_ = false;
};

}  // namespace chexbench::engine::cuda

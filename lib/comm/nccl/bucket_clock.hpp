// How long the all-reduce of each bucket took, by events on the device. Private to this folder.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "comm/nccl/cuda_check.hpp"
#include "core/reducer.hpp"

namespace chexbench::comm::nccl {

// A step that is captured into a CUDA graph keeps its own events for good, which every replay records anew, without
// this being called; steps that are not share two sets in turn, as one may be under way while the last one is read.
class BucketClock {
 public:
  // All buckets run on `stream`, which outlives this.
  explicit BucketClock(cudaStream_t stream);

  // Around the work of a bucket: both only queue a record.
  void begin_bucket();
  void end_bucket(std::uint64_t bytes);
  void end_step() { current_ = nullptr; }

  // Of the step that ended last on the device; zero before one has. Never waits.
  ReducerTimings last() const;
  // Of steps that ended on the device since the last call. The host's clock is known from when this was made: to some
  // 20 us at first, and as the device's clock runs faster or slower. Never waits.
  std::vector<BucketTime> take();

 private:
  struct Step {
    std::vector<Event> begins;
    std::vector<Event> ends;
    std::vector<std::uint64_t> bytes;
    std::size_t buckets = 0;
    bool captured = false;
  };
  struct Finished {
    const Step* step = nullptr;
    ReducerTimings timings;
    float at_ms = 0;  // since epoch_
  };
  Step& begin_step(bool captured);
  void record(const Event& event) const;
  std::optional<Finished> read(const Step& step) const;
  void append(const Step& step, std::vector<BucketTime>& times) const;

  const cudaStream_t stream_;
  const Event epoch_;
  double epoch_s_ = 0;        // of the host's clock
  float taken_until_ms_ = 0;  // since epoch_
  std::deque<Step> steps_;    // the first two are not captured; a deque, so that current_ stays valid
  int eager_steps_ = 0;
  Step* current_ = nullptr;
  mutable Finished last_;
};

}  // namespace chexbench::comm::nccl

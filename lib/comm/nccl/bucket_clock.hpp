// Measures how long the all-reduce of each bucket takes, with events on the device. Private to this folder.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "comm/nccl/nccl_comm.hpp"
#include "core/reducer.hpp"

namespace chexbench::comm::nccl {

// A step that is captured into a CUDA graph keeps its own events permanently; every replay records them again without
// a call to this class. Steps that are not captured alternate between two sets of events, because one step may be
// running while the previous one is read. Used by one thread.
// @throws DeviceError from the constructor, begin_bucket() and end_bucket() if CUDA fails
class BucketClock {
 public:
  // All buckets run on `stream`, which must outlive this object.
  explicit BucketClock(cudaStream_t stream);

  // Enclose the work of a bucket. Both only queue the recording of an event.
  void begin_bucket();
  void end_bucket(std::uint64_t bytes);
  void end_step() { current_ = nullptr; }

  // Returns the timings of the step that ended last on the device; zeros before any has ended. Never waits.
  ReducerTimings last() const;
  // Returns the buckets of the steps that ended on the device since the last call, in the host's time. The two clocks
  // are matched once, in the constructor: the error is about 20 us at first, and grows as the clocks drift apart.
  // Never waits.
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
  double epoch_s_ = 0;        // the time of epoch_ on the host's clock
  float taken_until_ms_ = 0;  // since epoch_
  std::deque<Step> steps_;    // the first two are not captured; a deque, so that current_ stays valid
  int eager_steps_ = 0;
  Step* current_ = nullptr;
  mutable Finished last_;
};

}  // namespace chexbench::comm::nccl

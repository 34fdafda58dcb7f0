// The seam between an engine and the communication of gradients: comm implements it, an engine calls it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chexbench {

// A run of gradients that is averaged over all ranks at once, in place. Memory belongs to the engine: host memory for
// CPU engines, device memory where `ReadyEvent` is a device event. All f32. Empty buckets are not allowed.
struct BucketSpan {
  float* data = nullptr;
  std::size_t count = 0;

  std::size_t bytes() const { return count * sizeof(float); }
};

// Opaque: a cudaEvent_t that fires when the bucket's gradients are complete, or null where they are complete already.
using ReadyEvent = void*;

// What the last finished step spent on communication.
struct ReducerTimings {
  double busy_s = 0;                // from the first bucket's start to the last one's end, gaps left out
  std::uint64_t reduced_bytes = 0;  // payload, not bytes on the wire
};

// Averages gradients over ranks while backward still runs. Used by one engine from one thread.
// Every rank must add the same buckets (sizes and order) in every step.
//   for each layer, last to first: backward(layer); if (bucket complete) reducer.reduce(bucket, nullptr);
//   reducer.wait();   // now every bucket holds the mean over ranks
class Reducer {
 public:
  virtual ~Reducer() = default;
  // Starts averaging; returns without waiting. The bucket must stay untouched until wait() returns.
  // @throws DeviceError where another rank was lost
  virtual void reduce(BucketSpan bucket, ReadyEvent ready) = 0;
  // Returns when every bucket since the last wait() is averaged. @throws DeviceError as above
  virtual void wait() = 0;
  virtual ReducerTimings timings() const = 0;
  // Number of ranks that are averaged over; 1 means that reduce() and wait() do nothing.
  virtual int world() const = 0;
};

}  // namespace chexbench

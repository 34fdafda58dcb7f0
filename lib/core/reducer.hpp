// The interface between engines and the communication of gradients: lib/comm implements Reducer, and an engine calls it
// during backward. Neither depends on the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/half.hpp"

namespace chexbench {

// A bucket: a contiguous run of gradients that is averaged over all ranks at once, in place. The engine owns the
// memory: f32 in host memory for CPU engines, any FloatType in device memory for GPU engines. Empty buckets are not
// allowed.
struct BucketSpan {
  void* data = nullptr;   // host or device address
  std::size_t count = 0;  // elements
  FloatType type = FloatType::f32;

  std::size_t bytes() const { return count * bytes_of(type); }
  // The bucket as floats. Only for f32 in host memory.
  std::span<float> floats() const { return {static_cast<float*>(data), count}; }
};

// An opaque cudaEvent_t that the engine recorded after the bucket's gradients; null for host memory, whose gradients
// are complete when reduce() is called.
using ReadyEvent = void*;
// An opaque cudaStream_t.
using DeviceStream = void*;

// The communication of the last finished step.
struct ReducerTimings {
  double busy_s = 0;                // seconds in which buckets were being averaged, without the gaps between them
  std::uint64_t reduced_bytes = 0;  // payload, not bytes on the wire
};

// When a bucket was averaged.
struct BucketTime {
  double begin_s = 0;       // on the clock of now_s()
  double end_s = 0;         // on the clock of now_s()
  std::uint64_t bytes = 0;  // of the bucket
};

// Averages gradients over ranks while backward still runs. Not thread-safe: one engine uses it from one thread. Every
// rank must reduce the same buckets (sizes and order) in every step:
//   for each layer, last to first: backward(layer); if (bucket complete) reducer.reduce(bucket, nullptr);
//   reducer.wait();   // every bucket then has the mean over the ranks
class Reducer {
 public:
  virtual ~Reducer() = default;
  // Starts to average `bucket` and returns without waiting; on a device, averaging begins after `ready`. The caller
  // must not touch the bucket until wait() returns, or in work that is queued before join().
  // @throws DeviceError if another rank was lost or communication failed
  virtual void reduce(BucketSpan bucket, ReadyEvent ready) = 0;
  // Returns when every bucket since the last wait() is averaged. @throws DeviceError as reduce() does
  virtual void wait() = 0;
  // Returns when every rank has called meet(). Nothing may be under way. Only for host memory: engines with a modelled
  // network call it instead of averaging. @throws DeviceError as reduce() does
  virtual void meet() {
    float nothing = 0;
    reduce({.data = &nothing, .count = 1}, nullptr);
    wait();
  }
  // Replaces wait() for buckets in device memory: work that is queued on `stream` after this call runs after the
  // averages. The default waits on the host. @throws DeviceError as reduce() does
  virtual void join(DeviceStream stream) {
    static_cast<void>(stream);
    wait();
  }
  // Returns whether reduce() and join() only queue work on the device. If so, a step that calls them may be captured
  // into a CUDA graph and replayed; the reducer must outlive the graph.
  virtual bool capturable() const { return false; }
  // Checks, without waiting, that all ranks are still alive. An engine calls it while the host waits for the device.
  // @throws DeviceError if a rank was lost
  virtual void check() {}
  // Stops waiting for other ranks, for a caller that has waited too long: device work of this reducer ends at once,
  // with meaningless results, and every later call @throws DeviceError with that reason.
  virtual void give_up(const std::string& reason) { static_cast<void>(reason); }
  // Returns the timings of the last step that finished.
  virtual ReducerTimings timings() const = 0;
  // For traces: returns the buckets, in order, that a device has averaged since the last call without a host thread
  // noticing. Buckets whose times are lost are left out. Never waits.
  virtual std::vector<BucketTime> take_device_buckets() { return {}; }
  // Returns the number of ranks in the average. If it is 1, reduce() and wait() do nothing.
  virtual int world() const = 0;
};

}  // namespace chexbench

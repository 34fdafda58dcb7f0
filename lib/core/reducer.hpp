// The seam between an engine and the communication of gradients: comm implements it, an engine calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chexbench {

enum class GradientType { f32, f16, bf16 };

// A run of gradients that is averaged over all ranks at once, in place. Memory belongs to the engine: host memory, f32,
// for CPU engines, device memory of any type for GPU engines. Empty buckets are not allowed.
struct BucketSpan {
  void* data = nullptr;
  std::size_t count = 0;
  GradientType type = GradientType::f32;

  std::size_t bytes() const { return count * (type == GradientType::f32 ? 4 : 2); }
  std::span<float> floats() const { return {static_cast<float*>(data), count}; }  // where type is f32
};

// Opaque: a cudaEvent_t, recorded when the bucket's gradients are complete; null for host memory, where they are.
using ReadyEvent = void*;
// Opaque: a cudaStream_t.
using DeviceStream = void*;

// What the last finished step spent on communication.
struct ReducerTimings {
  double busy_s = 0;                // from the first bucket's start to the last one's end, gaps left out
  std::uint64_t reduced_bytes = 0;  // payload, not bytes on the wire
};

// When a bucket was averaged, by now_s().
struct BucketTime {
  double begin_s = 0;
  double end_s = 0;
  std::uint64_t bytes = 0;
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
  // Instead of wait(), for buckets in device memory: what is queued on `stream` from now on comes after the averages.
  virtual void join(DeviceStream stream) {
    static_cast<void>(stream);
    wait();
  }
  // Whether reduce() and join() only queue work on the device: then a step that calls them may be captured into a CUDA
  // graph and replayed. The reducer must outlive such a graph.
  virtual bool capturable() const { return false; }
  // Looks, without waiting, whether the ranks are still there: for who waits on the host for a device. @throws
  // DeviceError where one was lost
  virtual void check() {}
  virtual ReducerTimings timings() const = 0;
  // For a trace: buckets that a device averaged, where no thread of the host saw that, since the last call and in their
  // order. What cannot be known any more is left out. Never waits.
  virtual std::vector<BucketTime> take_device_buckets() { return {}; }
  // Number of ranks that are averaged over; 1 means that reduce() and wait() do nothing.
  virtual int world() const = 0;
};

}  // namespace chexbench

// Queues the work of one pass, launch by launch or as one CUDA graph. A pass is one batch through forward and backward.
// A step has training.accumulate_steps passes; the last of them reduces the gradients and updates the weights.
#pragma once

#include <array>
#include <map>

#include "engine/cuda/runtime/device.hpp"
#include "engine/cuda/runtime/stream.hpp"
#include "engine/cuda/training/gradients.hpp"
#include "engine/cuda/training/network.hpp"
#include "engine/cuda/training/step_clock.hpp"
#include "engine/cuda/training/update.hpp"

namespace chexbench::engine::cuda {

// Passes are counted from 0 since the last restart. They alternate between two slots, each of which has a batch, a
// loss, events and graphs. References must outlive this object. Not thread-safe. All functions @throws DeviceError if
// CUDA reports an error
class StepQueue {
 public:
  // The components of a pass. `deliver` is the type of the batches; without `use_graphs` every pass is queued launch by
  // launch.
  struct Parts {
    const Addresses& addresses;
    Network& network;
    Update& update;
    const Accumulation& accumulation;
    DeviceBuckets& buckets;
    Deliver deliver;
    float label_smoothing;
    bool use_graphs;
  };
  explicit StepQueue(const Parts& parts);

  // The stream of all passes; uploads have another one.
  Stream stream() const { return stream_.get(); }
  // Starts to count passes from 0 again. No pass may be running.
  void restart();
  // Leaves the time since the pass before `pass` out of all timings. That pass must be done and its timings read.
  void leave_out_time_before(std::int64_t pass);
  // Queues the copy of a batch to the slot of `pass`, concurrently with the running work. Returns before the copy is
  // done; the batch must stay until uploaded(). Pass `pass` - 2, which used the same slot, must be done.
  void upload(const Batch& batch, std::int64_t pass);
  // Whether the batch has been copied, so that its memory may be reused.
  bool uploaded(std::int64_t pass) const { return slot(pass).upload_end.done(); }
  // Queues the pass after its upload. The first two passes of a process are queued launch by launch (or all passes of
  // the first step, if there are more), because libraries load kernels and connect to other ranks at their first use.
  // After that, graphs are captured, unless the reducer does not allow it. A graph contains the work of one reducer;
  // another one causes a new capture.
  void run(std::int64_t pass, Reducer& reducer);
  // Whether the pass is the last one of its step.
  bool ends_step(std::int64_t pass) const { return (pass + 1) % parts_.accumulation.batches() == 0; }

  // Whether the device has finished the pass, which must be one of the last two.
  bool done(std::int64_t pass) const { return end(pass).done(); }
  // These are for a pass that is done, until the next pass of the same slot is queued: its times, its loss, and the
  // step's scalars after it.
  StepMarks marks(std::int64_t pass) const;
  float loss(std::int64_t pass) const { return *reinterpret_cast<const float*>(slot(pass).loss.data()); }
  const kernels::StepScalars& scalars(std::int64_t pass) const {
    return *reinterpret_cast<const kernels::StepScalars*>(slot(pass).scalars.data());
  }

  // Queues the conversion of the batch in the pass's slot to the network's input.
  void convert(std::int64_t pass, Stream stream) const;

 private:
  // The place of a pass in its step, which decides the work queued after its backward.
  enum class Place { only, first, middle, last };
  // Events and results of the passes of one slot, and their graphs.
  struct Slot {
    Event upload_begin, upload_end, begin, forward_end, backward_end, reduced;
    PinnedMemory loss{sizeof(float)}, scalars{sizeof(kernels::StepScalars)};
    std::map<Place, Graph> graphs;
  };
  static std::size_t index(std::int64_t pass) { return static_cast<std::size_t>(pass % kSlots); }
  const Slot& slot(std::int64_t pass) const { return slots_[index(pass)]; }
  Place place(std::int64_t pass) const;
  const Event& end(std::int64_t pass) const;
  // Queues a whole pass, with the memory and events of the slot of `pass`.
  void queue(std::int64_t pass, Place place, Reducer& reducer);
  void queue_loss(std::int64_t pass);
  void queue_backward(Place place);
  void queue_last_backward(Reducer& reducer);
  void queue_results(std::int64_t pass);
  void capture(Reducer& reducer);

  // Events for the ends of a pass and of the three passes before it. A pass is evaluated while the next one is running,
  // with times relative to the end of the pass before the last, which is done when the pass's batch arrives.
  static constexpr int kEnds = 4;

  const Parts parts_;
  OwnedStream stream_, upload_stream_;
  std::array<Slot, kSlots> slots_;
  Event restarted_;
  std::array<Event, kEnds> ends_;
  const Reducer* captured_ = nullptr;  // the reducer whose work the graphs contain
  int eager_passes_ = 0;
};

}  // namespace chexbench::engine::cuda

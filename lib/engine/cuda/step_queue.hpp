// The work of one step, queued launch by launch or as one CUDA graph.
#pragma once

#include <array>

#include "engine/cuda/device.hpp"
#include "engine/cuda/device_buckets.hpp"
#include "engine/cuda/graph.hpp"
#include "engine/cuda/network.hpp"
#include "engine/cuda/step_clock.hpp"
#include "engine/cuda/update.hpp"

namespace chexbench::engine::cuda {

// Steps are counted from 0 since the last restart. They alternate between two slots: batch, loss, events and graph.
// References must outlive it. Not thread-safe.
class StepQueue {
 public:
  struct Parts {
    const Addresses& addresses;
    Network& network;
    Update& update;
    DeviceBuckets& buckets;
    Deliver deliver;
    bool use_graphs;
  };
  explicit StepQueue(const Parts& parts);

  Stream stream() const { return stream_.get(); }
  // From now on `step` counts from 0. Nothing may be under way.
  void restart();
  // What was done since the step before, which is over and was judged, belongs to none.
  void leave_out_time_before(std::int64_t step);
  // Queues the copy of a batch, beside whatever runs. The step before the last must be done.
  void upload(const Batch& batch, std::int64_t step);
  // Whether the batch has been copied and its memory may be reused.
  bool uploaded(std::int64_t step) const { return slot(step).upload_end.done(); }
  // Queues the step. The first two of a process are queued launch by launch, as libraries load kernels and connect at
  // their first use; behind the second one graph is captured for each slot, unless the reducer does not allow it.
  void run(std::int64_t step, Reducer& reducer);

  // For the last two steps.
  bool done(std::int64_t step) const { return end(step).done(); }
  // Of a step that is done.
  StepMarks marks(std::int64_t step) const;
  float loss(std::int64_t step) const { return *reinterpret_cast<const float*>(slot(step).loss.data()); }
  const kernels::StepScalars& scalars(std::int64_t step) const {
    return *reinterpret_cast<const kernels::StepScalars*>(slot(step).scalars.data());
  }

  // From the batch in the step's slot to the network's input.
  void convert(std::int64_t step, Stream stream) const;

 private:
  struct Slot {
    Event upload_begin, upload_end, begin, forward_end, backward_end, reduced;
    PinnedMemory loss{sizeof(float)}, scalars{sizeof(kernels::StepScalars)};
    Graph graph;
  };
  static std::size_t index(std::int64_t step) { return static_cast<std::size_t>(step % kSlots); }
  const Slot& slot(std::int64_t step) const { return slots_[index(step)]; }
  const Event& end(std::int64_t step) const;
  void queue(std::int64_t step, Reducer& reducer);
  void queue_loss(std::int64_t step);
  void queue_results(std::int64_t step);
  void capture(Reducer& reducer);

  // The ends of a step and of the three before it: a step is judged while the next one is under way, and by times since
  // the end of the step before the last, which is over when its batch comes.
  static constexpr int kEnds = 4;

  const Parts parts_;
  OwnedStream stream_, upload_stream_;
  std::array<Slot, kSlots> slots_;
  Event restarted_;
  std::array<Event, kEnds> ends_;
  const Reducer* captured_ = nullptr;  // whose work the graphs hold
  int eager_steps_ = 0;
};

}  // namespace chexbench::engine::cuda

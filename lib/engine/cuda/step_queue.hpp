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

// Steps alternate between two slots: batch, loss, events and graph. References must outlive it. Not thread-safe.
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
  // Queues the copy of a batch, beside whatever runs. The slot's last step must be done.
  void upload(const Batch& batch, int slot);
  // Whether the batch has been copied and its memory may be reused.
  bool uploaded(int slot) const { return slots_[index(slot)].upload_end.done(); }
  // Queues the step. The first two are queued launch by launch, as libraries load kernels and connect at their first
  // use; then one graph is captured for each slot, unless the reducer does not allow it.
  void run(int slot, Reducer& reducer);
  bool done(int slot) const { return slots_[index(slot)].end.done(); }

  // Of a step that is done. `previous_end`: the end of the step before, or what was marked before the first.
  StepMarks marks(int slot, const Event& previous_end) const;
  const Event& end(int slot) const { return slots_[index(slot)].end; }
  float loss(int slot) const { return *reinterpret_cast<const float*>(slots_[index(slot)].loss.data()); }

  // From the batch in the slot to the network's input.
  void convert(int slot, Stream stream) const;

 private:
  struct Slot {
    Event upload_begin, upload_end, begin, forward_end, backward_end, reduced, end;
    PinnedMemory loss{sizeof(float)};
    Graph graph;
  };
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }
  void queue(int slot, Reducer& reducer);
  void queue_loss(int slot);
  bool may_replay(const Reducer& reducer) const;

  const Parts parts_;
  OwnedStream stream_, upload_stream_;
  std::array<Slot, kSlots> slots_;
  const Reducer* captured_ = nullptr;  // whose work the graphs hold
  int eager_steps_ = 0;
};

}  // namespace chexbench::engine::cuda

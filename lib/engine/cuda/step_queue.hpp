// The work of one pass, queued launch by launch or as one CUDA graph. A pass is a batch through forward and backward; a
// step has one, or as many as training.accumulate_steps says, the last of which reduces and updates.
#pragma once

#include <array>
#include <map>

#include "engine/cuda/device.hpp"
#include "engine/cuda/device_buckets.hpp"
#include "engine/cuda/graph.hpp"
#include "engine/cuda/network.hpp"
#include "engine/cuda/step_clock.hpp"
#include "engine/cuda/update.hpp"

namespace chexbench::engine::cuda {

// Passes are counted from 0 since the last restart. They alternate between two slots: batch, loss, events and graphs.
// References must outlive it. Not thread-safe.
class StepQueue {
 public:
  struct Parts {
    const Addresses& addresses;
    Network& network;
    Update& update;
    const Accumulation& accumulation;
    DeviceBuckets& buckets;
    Deliver deliver;
    bool use_graphs;
  };
  explicit StepQueue(const Parts& parts);

  Stream stream() const { return stream_.get(); }
  // From now on passes count from 0. Nothing may be under way.
  void restart();
  // What was done since the pass before, which is over and was judged, belongs to no step.
  void leave_out_time_before(std::int64_t pass);
  // Queues the copy of a batch, beside whatever runs. The pass before the last must be done.
  void upload(const Batch& batch, std::int64_t pass);
  // Whether the batch has been copied and its memory may be reused.
  bool uploaded(std::int64_t pass) const { return slot(pass).upload_end.done(); }
  // Queues the pass. The first two of a process, or its first step where that has more, are queued launch by launch, as
  // libraries load kernels and connect at their first use; then graphs are captured, unless the reducer does not allow
  // it.
  void run(std::int64_t pass, Reducer& reducer);
  bool ends_step(std::int64_t pass) const { return (pass + 1) % parts_.accumulation.batches() == 0; }

  // For the last two passes.
  bool done(std::int64_t pass) const { return end(pass).done(); }
  // Of a pass that is done.
  StepMarks marks(std::int64_t pass) const;
  float loss(std::int64_t pass) const { return *reinterpret_cast<const float*>(slot(pass).loss.data()); }
  const kernels::StepScalars& scalars(std::int64_t pass) const {
    return *reinterpret_cast<const kernels::StepScalars*>(slot(pass).scalars.data());
  }

  // From the batch in the pass's slot to the network's input.
  void convert(std::int64_t pass, Stream stream) const;

 private:
  // Of a pass in its step: what is queued behind its backward depends on it.
  enum class Place { only, first, middle, last };
  struct Slot {
    Event upload_begin, upload_end, begin, forward_end, backward_end, reduced;
    PinnedMemory loss{sizeof(float)}, scalars{sizeof(kernels::StepScalars)};
    std::map<Place, Graph> graphs;
  };
  static std::size_t index(std::int64_t pass) { return static_cast<std::size_t>(pass % kSlots); }
  const Slot& slot(std::int64_t pass) const { return slots_[index(pass)]; }
  Place place(std::int64_t pass) const;
  const Event& end(std::int64_t pass) const;
  // Into the slot of `pass`.
  void queue(std::int64_t pass, Place place, Reducer& reducer);
  void queue_loss(std::int64_t pass);
  void queue_backward(Place place);
  void queue_last_backward(Reducer& reducer);
  void queue_results(std::int64_t pass);
  void capture(Reducer& reducer);

  // The ends of a pass and of the three before it: a pass is judged while the next one is under way, and by times since
  // the end of the pass before the last, which is over when its batch comes.
  static constexpr int kEnds = 4;

  const Parts parts_;
  OwnedStream stream_, upload_stream_;
  std::array<Slot, kSlots> slots_;
  Event restarted_;
  std::array<Event, kEnds> ends_;
  const Reducer* captured_ = nullptr;  // whose work the graphs hold
  int eager_passes_ = 0;
};

}  // namespace chexbench::engine::cuda

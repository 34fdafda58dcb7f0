// Runs forward alone, with the network as after training: norms use running statistics, and dropout is off. It works in
// the memory of the training steps, between which it runs.
#pragma once

#include <span>

#include "core/batch.hpp"
#include "engine/cuda/training/network.hpp"

namespace chexbench::engine::cuda {

// Evaluates batches with the weights that are on the device. References must outlive this object. Not thread-safe.
class Evaluation {
 public:
  struct Parts {
    const Addresses& addresses;  // of the training steps, whose memory and parameters are used
    const MemoryRequest& request;
    Convolutions& convolutions;
    LinearProducts& linear;
    Deliver deliver;
  };
  // @throws DeviceError if the engine cannot compute the network
  explicit Evaluation(const Parts& parts);

  // Queues the evaluation of `batch`. Waits until the images have been copied, so the caller may then release the
  // batch. No step may be running.
  // @throws DeviceError if the device fails
  void queue(const Batch& batch, Stream stream);
  // Waits for the evaluation and writes logits[image][output], for as many images as fit into `logits`.
  // @throws DeviceError if the device fails
  void read(std::span<float> logits, Stream stream) const;

 private:
  const Deliver deliver_;
  const Program program_;
  const MemoryPlan plan_;
  const Addresses addresses_;
  Network network_;
};

}  // namespace chexbench::engine::cuda

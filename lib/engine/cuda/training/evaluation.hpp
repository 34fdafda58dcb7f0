// Runs forward without a step: to evaluate batches, and to find the layer that an infinite or NaN loss comes from.
#pragma once

#include <span>
#include <string>

#include "core/batch.hpp"
#include "engine/cuda/training/network.hpp"

namespace chexbench::engine::cuda {

// Evaluates batches with the weights that are on the device, and with the network as after training: norms use running
// statistics, and dropout is off. It works in the memory of the training steps, between which it runs. References must
// outlive this object. Not thread-safe.
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

// Runs forward once more over the input and the weights that are on the device, and checks the output of every layer.
// This works after the step, because a step with such a loss skips its update and so keeps the weights. Returns a
// sentence without its full stop, e.g. "layer1.0.conv2 is the first layer whose output is not finite". Takes seconds.
// Overwrites activations, gradients and the step's scalars, so training cannot continue afterwards.
// @throws DeviceError if the device fails
std::string first_bad_layer(const Addresses& addresses, Network& network, Stream stream);

}  // namespace chexbench::engine::cuda

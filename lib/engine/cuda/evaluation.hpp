// Forward alone, as the trained network would be used, in the memory of the steps between which it runs.
#pragma once

#include <span>

#include "core/batch.hpp"
#include "engine/cuda/network.hpp"

namespace chexbench::engine::cuda {

// References must outlive it. Not thread-safe.
class Evaluation {
 public:
  struct Parts {
    const Addresses& addresses;  // of the steps
    const MemoryRequest& request;
    Convolutions& convolutions;
    LinearProducts& linear;
    Deliver deliver;
  };
  explicit Evaluation(const Parts& parts);

  // Begins once `batch` is on the device, and the caller may release it when this returns. No step may be under way.
  void queue(const Batch& batch, Stream stream);
  // logits[images][outputs] of the first so many images. Waits for them.
  void read(std::span<float> logits, Stream stream) const;

 private:
  const Deliver deliver_;
  const Program program_;
  const MemoryPlan plan_;
  const Addresses addresses_;
  Network network_;
};

}  // namespace chexbench::engine::cuda

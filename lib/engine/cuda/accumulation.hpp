// Averages the gradients of a step's batches, which backward writes to the same place one after the other.
#pragma once

#include <cstddef>

#include "engine/cuda/addresses.hpp"
#include "engine/cuda/kernels/step_launch.hpp"
#include "engine/cuda/stream.hpp"

namespace chexbench::engine::cuda {

// Everything may be captured. `addresses` must outlive it.
class Accumulation {
 public:
  explicit Accumulation(const Addresses& addresses) : addresses_(addresses) {}

  int batches() const { return addresses_.config().batches_of_step; }
  // Backward of a batch is done that does not end its step; `begins`: the first one's.
  void add(bool begins, Stream stream) const;
  // So many gradients from `begin` on are complete in the step's last backward: they become the mean over its batches.
  // Nothing where a step has one batch.
  void average(ParameterKind kind, std::size_t begin, std::size_t count, Stream stream) const;
  void average_all(Stream stream) const;

 private:
  kernels::AccumulateCall call(ParameterKind kind, std::size_t begin, std::size_t count) const;

  const Addresses& addresses_;
};

}  // namespace chexbench::engine::cuda

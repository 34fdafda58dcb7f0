// Sums 16-bit floats over MPI. MPI has no such type, so this defines its own reduction operations.
#pragma once

#include <memory>
#include <span>

#include "comm/comm_thread.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::comm {

// The reduction operations for binary16 and bfloat16. Used on the comm thread only.
class HalfSums {
 public:
  HalfSums();
  ~HalfSums();
  HalfSums(const HalfSums&) = delete;
  HalfSums& operator=(const HalfSums&) = delete;
  // Frees MPI's operations. Call it before MPI ends; a process that is aborted need not call it.
  void free();

  // Returns an operation that replaces `values` by their mean over the ranks of the communicator that `mpi_comm` (an
  // MPI_Comm*) points to. The values are divided by `ranks` before they are narrowed to `dtype`, so no sum exceeds
  // the largest value. Each addition is done in f32. The values, the communicator and this object must outlive the
  // operation.
  // @throws DeviceError from the operation if MPI fails
  Poll average(const void* mpi_comm, std::span<float> values, FloatType dtype, int ranks) const;

 private:
  struct Operations;
  const std::unique_ptr<Operations> operations_;
};

}  // namespace chexbench::comm

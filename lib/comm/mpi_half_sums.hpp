// Sums of 16-bit floats over MPI, which has no such type: an operation of our own.
#pragma once

#include <memory>
#include <span>

#include "comm/comm_thread.hpp"
#include "spec/experiment.hpp"

namespace chexbench::comm {

// Used on the comm thread alone.
class HalfSums {
 public:
  HalfSums();
  ~HalfSums();
  HalfSums(const HalfSums&) = delete;
  HalfSums& operator=(const HalfSums&) = delete;
  // To be called before MPI ends; a process that is aborted needn't.
  void free();

  // Replaces `values` by their mean over the ranks of the communicator that `mpi_comm` points to, an MPI_Comm.
  // They are divided by `ranks` before they are narrowed, so that no sum is larger than the largest value was, and
  // each sum is taken in f32. Values, communicator and this must outlive it.
  Poll average(const void* mpi_comm, std::span<float> values, spec::GradientDtype dtype, int ranks) const;

 private:
  struct Operations;
  const std::unique_ptr<Operations> operations_;
};

}  // namespace chexbench::comm

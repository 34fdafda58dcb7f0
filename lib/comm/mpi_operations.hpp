// MPI's nonblocking calls as operations of the comm thread: collectives, sums of 16-bit floats, and messages. Private
// to mpi.cpp. Everything here is used on the comm thread only, and throws DeviceError if MPI fails.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "comm/comm_thread.hpp"
#include "comm/schemes/transport.hpp"
#include "comm/wait_watch.hpp"
#include "core/half.hpp"

namespace chexbench::comm {

// Returns a number of bytes as MPI counts them.
// @throws DeviceError naming `what`, with the remedy, if there are more than 2 GiB
int checked_size(std::size_t bytes, std::string_view what, std::string_view remedy = "");

// Returns a nonblocking collective as an operation of the comm thread. The first poll posts it.
Poll make_poll(std::string_view what, std::function<int(MPI_Request*)> post);

Poll make_barrier(MPI_Comm comm);

// Puts a barrier before large sums. Data moves only while all ranks poll without sleeping, which is worth its CPU
// time only when all ranks have arrived.
Poll begin_together(MPI_Comm comm, std::size_t bytes, Poll sum);

// Sums `values` over ranks, and multiplies the sums by `scale`.
Poll make_all_reduce(MPI_Comm comm, std::span<float> values, float scale);
Poll make_all_reduce(MPI_Comm comm, std::span<double> values, double scale);

// The reduction operations for binary16 and bfloat16, which MPI lacks.
class HalfSums {
 public:
  HalfSums();
  // Frees MPI's operations. Call it before MPI ends; a process that is aborted need not call it.
  void free();
  // Returns an operation that replaces `values` by their mean over the ranks of `comm`. The values are divided by
  // `ranks` before they are narrowed to `dtype`, so no sum exceeds the largest value. Each addition is done in f32. The
  // values must outlive the operation, and neither `comm` nor these operations may be freed before it ends.
  Poll average(MPI_Comm comm, std::span<float> values, FloatType dtype, int ranks) const;

 private:
  MPI_Op half_, bfloat16_;
};

// Sends messages of at most 2 GiB between the ranks of `comm`, which must outlive the transport.
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm);

// Carries the notes of the wait watch over `comm`, which spans all ranks and is used for nothing else.
std::unique_ptr<NoteLinks> make_mpi_notes(MPI_Comm comm);

}  // namespace chexbench::comm

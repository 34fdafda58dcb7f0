// MPI's nonblocking collectives as operations of the comm thread. Private to mpi.cpp.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>
#include <string_view>

#include "comm/comm_thread.hpp"

namespace chexbench::comm {

// Returns a nonblocking collective as an operation of the comm thread. The first poll posts it.
Poll make_poll(std::string_view what, std::function<int(MPI_Request*)> post);

Poll make_barrier(MPI_Comm comm);

// Puts a barrier before large sums. Data moves only while all ranks poll without sleeping, which is worth its CPU
// time only when all ranks have arrived.
Poll begin_together(MPI_Comm comm, std::size_t bytes, Poll sum);

// Sums `values` over ranks, and multiplies the sums by `scale`.
Poll make_all_reduce(MPI_Comm comm, std::span<float> values, float scale);
Poll make_all_reduce(MPI_Comm comm, std::span<double> values, double scale);

}  // namespace chexbench::comm

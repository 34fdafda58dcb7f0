// Sends messages between the ranks of an MPI communicator.
#pragma once

#include <memory>

#include "comm/schemes/transport.hpp"

namespace chexbench::comm {

// `mpi_comm` points to an MPI_Comm that outlives the transport. Used on the comm thread only. A message is at most
// 2 GiB.
// @throws DeviceError from the transport if a message is larger or MPI fails
std::unique_ptr<Transport> make_mpi_transport(const void* mpi_comm);

}  // namespace chexbench::comm

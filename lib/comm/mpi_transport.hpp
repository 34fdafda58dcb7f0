// Messages between the ranks of an MPI communicator.
#pragma once

#include <memory>

#include "comm/schemes/transport.hpp"

namespace chexbench::comm {

// `mpi_comm` points to an MPI_Comm that outlives the transport; used on the comm thread alone.
std::unique_ptr<Transport> make_mpi_transport(const void* mpi_comm);

}  // namespace chexbench::comm

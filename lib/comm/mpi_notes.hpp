// Carries the notes of the wait watch over MPI.
#pragma once

#include <memory>

#include "comm/wait_watch.hpp"

namespace chexbench::comm {

// `mpi_comm` points to an MPI_Comm of the world that carries nothing else and outlives the links.
// @throws DeviceError from the links if MPI fails
std::unique_ptr<NoteLinks> make_mpi_notes(const void* mpi_comm);

}  // namespace chexbench::comm

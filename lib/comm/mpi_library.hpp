// The MPI library of the process.
#pragma once

#include <mpi.h>

#include <memory>
#include <string_view>

#include "comm/wait_watch.hpp"

namespace chexbench::comm {

// The functions that this folder calls. Each is named like MPI's, without the prefix.
struct MpiLibrary {
  decltype(&MPI_Abort) abort;
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Comm_dup) comm_dup;
  decltype(&MPI_Comm_free) comm_free;
  decltype(&MPI_Comm_rank) comm_rank;
  decltype(&MPI_Comm_set_errhandler) comm_set_errhandler;
  decltype(&MPI_Comm_size) comm_size;
  decltype(&MPI_Comm_split) comm_split;
  decltype(&MPI_Comm_split_type) comm_split_type;
  decltype(&MPI_Error_string) error_string;
  decltype(&MPI_Finalize) finalize;
  decltype(&MPI_Get_library_version) get_library_version;
  decltype(&MPI_Get_processor_name) get_processor_name;
  decltype(&MPI_Iallreduce) iallreduce;
  decltype(&MPI_Ibarrier) ibarrier;
  decltype(&MPI_Ibcast) ibcast;
  decltype(&MPI_Igather) igather;
  decltype(&MPI_Igatherv) igatherv;
  decltype(&MPI_Init_thread) init_thread;
  decltype(&MPI_Iprobe) iprobe;
  decltype(&MPI_Irecv) irecv;
  decltype(&MPI_Isend) isend;
  decltype(&MPI_Op_create) op_create;
  decltype(&MPI_Op_free) op_free;
  decltype(&MPI_Recv) recv;
  decltype(&MPI_Test) test;
};

// Returns the library; the first call loads it unless it is linked (README.md). Thread-safe.
// @throws DeviceError if no library can be loaded, with the names that were tried and the dynamic linker's errors
const MpiLibrary& mpi();

// Turns the status of a failed MPI call into an exception.

// `code` is the return value of an MPI function.
// @throws DeviceError with `what` and MPI's description if `code` is not MPI_SUCCESS
void check_mpi(int code, std::string_view what);

// Carries the notes of the wait watch over MPI.

// `mpi_comm` points to a world-wide MPI_Comm, used for nothing else, that outlives the links.
// @throws DeviceError from the links if MPI fails
std::unique_ptr<NoteLinks> make_mpi_notes(const void* mpi_comm);

}  // namespace chexbench::comm

// The MPI library of the process.
#pragma once

#include <mpi.h>

#include <string_view>

namespace chexbench::comm {

// The address of a function of the library that mpi() has loaded; converts to the function pointer that it initializes.
struct MpiSymbol {
  // @throws DeviceError if the library has no such function
  explicit MpiSymbol(const char* name);
  template <typename Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
  void* address;
};

// The functions that this folder calls. Each is named like MPI's, without the prefix.
struct MpiLibrary {
  decltype(&MPI_Abort) abort = MpiSymbol("MPI_Abort");
  decltype(&MPI_Allgather) allgather = MpiSymbol("MPI_Allgather");
  decltype(&MPI_Bcast) bcast = MpiSymbol("MPI_Bcast");
  decltype(&MPI_Comm_dup) comm_dup = MpiSymbol("MPI_Comm_dup");
  decltype(&MPI_Comm_free) comm_free = MpiSymbol("MPI_Comm_free");
  decltype(&MPI_Comm_rank) comm_rank = MpiSymbol("MPI_Comm_rank");
  decltype(&MPI_Comm_set_errhandler) comm_set_errhandler = MpiSymbol("MPI_Comm_set_errhandler");
  decltype(&MPI_Comm_size) comm_size = MpiSymbol("MPI_Comm_size");
  decltype(&MPI_Comm_split) comm_split = MpiSymbol("MPI_Comm_split");
  decltype(&MPI_Comm_split_type) comm_split_type = MpiSymbol("MPI_Comm_split_type");
  decltype(&MPI_Error_string) error_string = MpiSymbol("MPI_Error_string");
  decltype(&MPI_Finalize) finalize = MpiSymbol("MPI_Finalize");
  decltype(&MPI_Get_library_version) get_library_version = MpiSymbol("MPI_Get_library_version");
  decltype(&MPI_Get_processor_name) get_processor_name = MpiSymbol("MPI_Get_processor_name");
  decltype(&MPI_Iallreduce) iallreduce = MpiSymbol("MPI_Iallreduce");
  decltype(&MPI_Ibarrier) ibarrier = MpiSymbol("MPI_Ibarrier");
  decltype(&MPI_Ibcast) ibcast = MpiSymbol("MPI_Ibcast");
  decltype(&MPI_Igather) igather = MpiSymbol("MPI_Igather");
  decltype(&MPI_Igatherv) igatherv = MpiSymbol("MPI_Igatherv");
  decltype(&MPI_Init_thread) init_thread = MpiSymbol("MPI_Init_thread");
  decltype(&MPI_Iprobe) iprobe = MpiSymbol("MPI_Iprobe");
  decltype(&MPI_Irecv) irecv = MpiSymbol("MPI_Irecv");
  decltype(&MPI_Isend) isend = MpiSymbol("MPI_Isend");
  decltype(&MPI_Op_create) op_create = MpiSymbol("MPI_Op_create");
  decltype(&MPI_Op_free) op_free = MpiSymbol("MPI_Op_free");
  decltype(&MPI_Recv) recv = MpiSymbol("MPI_Recv");
  decltype(&MPI_Test) test = MpiSymbol("MPI_Test");
};

// Returns the library; the first call loads it unless it is linked (README.md). Thread-safe.
// @throws DeviceError if no library can be loaded, with the names that were tried and the dynamic linker's errors
const MpiLibrary& mpi();

// Turns the status of a failed MPI call into an exception; `code` is the return value of an MPI function.
// @throws DeviceError with `what` and MPI's description if `code` is not MPI_SUCCESS
void check_mpi(int code, std::string_view what);

}  // namespace chexbench::comm

#include "comm/mpi_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

// As if the program were linked with the library: what is loaded later, or before by LD_PRELOAD, sees the same symbols.
void load() {
  ::setenv("UCX_LOG_FILE", "stderr", 0);  // UCX, of which MPICH makes use, else writes where results go
  std::string reasons;
  std::istringstream names(CHEXBENCH_MPI_LIBRARIES);  // none where the library is linked
  for (std::string name; names >> name;) {
    if (dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
    reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
  }
  if (reasons.empty()) return;
  throw DeviceError(
      fmt::format("no MPI library can be loaded ({}): install MPICH (on Debian and Ubuntu the package "
                  "mpich, or `pip install mpich`), or name the folder of its library in "
                  "LD_LIBRARY_PATH",
                  reasons));
}

// Open MPI 1.10 has a libmpi.so.12, too.
void refuse_open_mpi() {
  const bool is_linked = std::string_view(CHEXBENCH_MPI_LIBRARIES).empty();
  if (is_linked || dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") == nullptr) return;
  throw DeviceError(
      "the MPI library that was loaded is Open MPI's, and this build is for those that have MPICH's ABI: name the "
      "folder of one of them in LD_LIBRARY_PATH, or build with Open MPI");
}

struct Symbol {
  void* address;
  template <typename Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};

// Not of the library's handle alone, because tools stand in front of functions.
Symbol find(const char* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  if (address == nullptr) throw DeviceError(fmt::format("the MPI library has no {}", name));
  return {address};
}

MpiLibrary open() {
  load();
  refuse_open_mpi();
  return {.abort = find("MPI_Abort"),
          .allgather = find("MPI_Allgather"),
          .bcast = find("MPI_Bcast"),
          .comm_dup = find("MPI_Comm_dup"),
          .comm_free = find("MPI_Comm_free"),
          .comm_rank = find("MPI_Comm_rank"),
          .comm_set_errhandler = find("MPI_Comm_set_errhandler"),
          .comm_size = find("MPI_Comm_size"),
          .comm_split = find("MPI_Comm_split"),
          .comm_split_type = find("MPI_Comm_split_type"),
          .error_string = find("MPI_Error_string"),
          .finalize = find("MPI_Finalize"),
          .get_library_version = find("MPI_Get_library_version"),
          .get_processor_name = find("MPI_Get_processor_name"),
          .iallreduce = find("MPI_Iallreduce"),
          .ibarrier = find("MPI_Ibarrier"),
          .ibcast = find("MPI_Ibcast"),
          .igather = find("MPI_Igather"),
          .igatherv = find("MPI_Igatherv"),
          .init_thread = find("MPI_Init_thread"),
          .iprobe = find("MPI_Iprobe"),
          .irecv = find("MPI_Irecv"),
          .isend = find("MPI_Isend"),
          .op_create = find("MPI_Op_create"),
          .op_free = find("MPI_Op_free"),
          .recv = find("MPI_Recv"),
          .test = find("MPI_Test")};
}

}  // namespace

const MpiLibrary& mpi() {
  static const MpiLibrary library = open();
  return library;
}

}  // namespace chexbench::comm

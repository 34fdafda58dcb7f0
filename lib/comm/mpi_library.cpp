#include "comm/mpi_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

// As if the program were linked with the library: LD_PRELOAD and libraries loaded later see the same symbols.
void load() {
  ::setenv("UCX_LOG_FILE", "stderr", 0);  // otherwise UCX, which MPICH uses, writes to standard output
  std::string reasons;
  std::istringstream names(CHEXBENCH_MPI_LIBRARIES);  // empty if the library is linked
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

MpiLibrary open() {
  load();
  refuse_open_mpi();
  return {};
}

}  // namespace

// Not from the library's handle alone, because tools intercept functions.
MpiSymbol::MpiSymbol(const char* name) : address(dlsym(RTLD_DEFAULT, name)) {
  if (address == nullptr) throw DeviceError(fmt::format("the MPI library has no {}", name));
}

const MpiLibrary& mpi() {
  static const MpiLibrary library = open();
  return library;
}

void check_mpi(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  mpi().error_string(code, text, &length);
  throw DeviceError(fmt::format("comm: {} failed: {}", what, std::string_view(text, static_cast<std::size_t>(length))));
}

}  // namespace chexbench::comm

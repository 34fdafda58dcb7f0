// Shortens the long descriptions that MPI libraries give of themselves to a name and a version for reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.hpp"
#include "measure/gpu_libraries.hpp"

namespace chexbench::comm {

// "MPICH Version:\t4.0.2\nMPICH Release date:..." becomes "MPICH 4.0.2". "Open MPI v4.1.4, package: ..." becomes
// "Open MPI v4.1.4".
std::string short_library_name(std::string_view description);

// The versions of the libraries that ranks communicate by.

// Returns MPI and NCCL, with the versions of those that this process uses. Loads nothing.
std::vector<measure::LibraryVersion> libraries(const World& world);

}  // namespace chexbench::comm

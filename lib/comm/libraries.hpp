// The versions of the libraries that ranks communicate by.
#pragma once

#include <vector>

#include "comm/communicator.hpp"
#include "measure/library_version.hpp"

namespace chexbench::comm {

// Returns MPI and NCCL, with the versions of those that this process uses. Loads nothing.
std::vector<measure::LibraryVersion> libraries(const World& world);

}  // namespace chexbench::comm

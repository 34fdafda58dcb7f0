// Checks that MPI finds the shared memory that it takes, before it ends the process for want of it.
#pragma once

#include <string_view>

#include "comm/launcher.hpp"
#include "measure/shared_memory.hpp"

namespace chexbench::comm {

// Does nothing unless `library`, as MPI_Get_library_version describes it, is MPICH over UCX, or where UCX was told
// which transports to use. Ranks take this memory only once all of them are in MPI_Init, so each may count for all of
// its host before.
// @throws DeviceError if `memory` cannot be written to, or too little of it is free for the ranks of this host
void check_shared_memory(const Environment& environment, std::string_view library, const measure::SharedMemory& memory);

}  // namespace chexbench::comm

// Checks that enough shared memory is available before MPI ends the process for lack of it.
#pragma once

#include <string_view>

#include "comm/launcher.hpp"
#include "measure/shared_memory.hpp"

namespace chexbench::comm {

// Does nothing unless `library`, as MPI_Get_library_version describes it, is MPICH over UCX, or if UCX's transports
// were chosen by the user. Ranks take this memory only once all of them are in MPI_Init, so before that, each rank may
// count for all of its host.
// @throws DeviceError if `memory` cannot be written to, or too little of it is free for the ranks of this host
void check_shared_memory(const Environment& environment, std::string_view library, const measure::SharedMemory& memory);

}  // namespace chexbench::comm

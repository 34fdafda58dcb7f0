// A World of the ranks that an MPI launcher started.
#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "comm/launcher.hpp"

namespace chexbench::comm {

// Loads MPI, and initializes it on a thread that then makes all MPI calls of the process. Call it once per process.
// Without an MPI library, and in a build without MPI, it returns a world of one rank if the launcher started one rank.
// @throws DeviceError if there are several ranks and no MPI, if MPI does not start, or if each rank appears alone
// because the launcher belongs to another MPI
std::unique_ptr<World> make_mpi_world(const Launcher& launcher);

}  // namespace chexbench::comm

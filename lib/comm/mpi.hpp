// A World of the ranks that an MPI launcher started.
#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "comm/launcher.hpp"

namespace chexbench::comm {

// Initializes MPI on a thread that then makes all MPI calls of the process. Call it once per process. A build without
// MPI returns a world of one rank if the launcher started one rank.
// @throws DeviceError if MPI does not start, or if this build has no MPI and there are several ranks
std::unique_ptr<World> make_mpi_world(const Launcher& launcher);

}  // namespace chexbench::comm

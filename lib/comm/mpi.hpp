// The ranks that an MPI launcher started.
#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "comm/launcher.hpp"

namespace chexbench::comm {

// Initializes MPI on a thread that then makes all MPI calls of the process. Once per process.
// Without MPI in this build: a world of one if the launcher started one rank.
// @throws DeviceError where MPI does not start, or this build has none and there are several ranks
std::unique_ptr<World> make_mpi_world(const Launcher& launcher);

}  // namespace chexbench::comm

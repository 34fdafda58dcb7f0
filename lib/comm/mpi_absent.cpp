#include "comm/communicator.hpp"
#include "comm/launcher.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {

std::unique_ptr<World> make_mpi_world(const Launcher& launcher) {
  if (launcher.ranks == 1) return make_single_world();
  throw DeviceError(say_ranks_lack_mpi(
      launcher, "this build has no MPI; install libmpich-dev and build again, or start without the launcher"));
}

}  // namespace chexbench::comm

#include <fmt/format.h>

#include "comm/mpi.hpp"
#include "comm/single.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {

std::unique_ptr<World> make_mpi_world(const Launcher& launcher) {
  if (launcher.ranks == 1) return make_single_world();
  throw DeviceError(
      fmt::format("comm: a launcher started {} ranks ({} is set), but this build has no MPI, so each would run "
                  "as the only rank; install libmpich-dev and build again, or start without the launcher",
                  launcher.ranks ? std::to_string(*launcher.ranks) : "several", launcher.variable));
}

}  // namespace chexbench::comm

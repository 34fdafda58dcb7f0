#include <cstdlib>

#include "comm/communicator.hpp"
#include "comm/launcher.hpp"
#include "comm/mpi.hpp"
#include "comm/single.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

constexpr double kRootS = 1;

}  // namespace

std::unique_ptr<World> join_world() {
  try {
    const std::optional<Launcher> launcher = find_launcher(std::getenv);
    return launcher ? make_mpi_world(*launcher) : make_single_world();
  } catch (const DeviceError&) {
    // Every rank has this error, and launchers end the others when the first one has reported it.
    if (is_later_rank(std::getenv)) sleep_until_s(now_s() + kRootS);
    throw;
  }
}

}  // namespace chexbench::comm

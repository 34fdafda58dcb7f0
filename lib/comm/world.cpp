#include <cstdlib>
#include <system_error>

#include "comm/communicator.hpp"
#include "comm/launcher.hpp"
#include "comm/mpi.hpp"
#include "comm/single.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {

std::unique_ptr<World> join_world() {
  try {
    const std::optional<Launcher> launcher = find_launcher(std::getenv);
    return launcher ? make_mpi_world(*launcher) : make_single_world();
  } catch (const DeviceError&) {
    let_first_rank_report(std::getenv);  // most launchers then end the others
    throw;
  } catch (const std::system_error&) {  // no thread
    let_first_rank_report(std::getenv);
    throw;
  }
}

}  // namespace chexbench::comm

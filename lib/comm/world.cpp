#include <fmt/format.h>

#include <cstdlib>

#include "comm/communicator.hpp"
#include "comm/launcher.hpp"
#include "comm/mpi.hpp"
#include "comm/single.hpp"

namespace chexbench::comm {

std::unique_ptr<World> join_world() {
  const std::optional<Launcher> launcher = find_launcher([](const char* name) { return std::getenv(name); });
  return launcher ? make_mpi_world(*launcher) : make_single_world();
}

}  // namespace chexbench::comm

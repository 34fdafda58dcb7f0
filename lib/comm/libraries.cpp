#include "comm/libraries.hpp"

#include "measure/gpu_libraries.hpp"

namespace chexbench::comm {

std::vector<measure::LibraryVersion> libraries(const World& world) {
  const std::string mpi = world.library();
  return {{"MPI", mpi == "none" ? std::nullopt : std::optional(mpi)}, {"NCCL", measure::loaded_version("NCCL")}};
}

}  // namespace chexbench::comm

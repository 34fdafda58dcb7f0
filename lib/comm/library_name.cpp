#include "comm/library_name.hpp"

#include <sstream>

#include "measure/gpu_libraries.hpp"

namespace chexbench::comm {

std::string short_library_name(std::string_view description) {
  std::istringstream words{std::string(description.substr(0, description.find_first_of(",\n")))};
  std::string name;
  for (std::string word; words >> word;) {
    if (word != "Version:") name += (name.empty() ? "" : " ") + word;
  }
  return name;
}

std::vector<measure::LibraryVersion> libraries(const World& world) {
  const std::string mpi = world.library();
  return {{"MPI", mpi == "none" ? std::nullopt : std::optional(mpi)}, {"NCCL", measure::loaded_version("NCCL")}};
}

}  // namespace chexbench::comm

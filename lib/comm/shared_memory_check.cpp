#include "comm/shared_memory_check.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "core/errors.hpp"
#include "core/text.hpp"

namespace chexbench::comm {

void check_shared_memory(const Environment& environment, std::string_view library,
                         const measure::SharedMemory& memory) {
  constexpr double kMegabyte = 1e6;
  if (library.find("ch4:ucx") == std::string_view::npos || environment("UCX_TLS") != nullptr) return;
  if (!memory.problem.empty()) {
    throw DeviceError(fmt::format(
        "comm: MPI cannot write to /dev/shm, through which ranks of a host exchange data: {}. Let this user write to "
        "it (chmod 1777), or {}",
        memory.problem, measure::kMoreSharedMemory));
  }
  const std::uint64_t ranks = ranks_of_host(environment);
  const std::uint64_t bytes = measure::shared_bytes_of(ranks);
  if (!memory.exists || memory.free_bytes >= bytes) return;
  throw DeviceError(fmt::format(
      "comm: {} of this host take{} {:.0f} MB of /dev/shm, and {:.1f} of {:.1f} MB are free: {}, remove what "
      "others left there, or start fewer ranks",
      count_text(ranks, "rank"), ranks == 1 ? "s" : "", static_cast<double>(bytes) / kMegabyte,
      static_cast<double>(memory.free_bytes) / kMegabyte, static_cast<double>(memory.total_bytes) / kMegabyte,
      measure::kMoreSharedMemory));
}

}  // namespace chexbench::comm

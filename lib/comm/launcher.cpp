#include "comm/launcher.hpp"

#include <unistd.h>

#include <array>
#include <string_view>

#include "core/clock.hpp"
#include "core/numbers.hpp"

namespace chexbench::comm {
namespace {

// Each launcher sets one of these for each rank: hydra of MPICH and Intel MPI, and Slurm's PMI-2 (PMI_*), PMIx
// launchers, Open MPI.
constexpr std::array kRankVariables{"PMI_RANK", "PMI_FD", "PMI_PORT", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
// Only hydra sets this for each rank. Its PMI_FD is a socket that carries lines of text (PMI 1).
constexpr const char* kHydra = "HYDI_CONTROL_FD";
constexpr std::string_view kEnd = "cmd=finalize\n";
constexpr double kAnswerS = 0.2;  // time for hydra to answer: it fails if the process has already ended

constexpr std::array kSizeVariables{"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"};

std::optional<int> read_count(const char* text) {
  if (text == nullptr) return {};
  const auto value = parse_number<int>(text);
  return value && *value >= 1 ? value : std::nullopt;
}

}  // namespace

std::optional<Launcher> find_launcher(const Environment& environment) {
  for (const char* variable : kRankVariables) {
    if (environment(variable) == nullptr) continue;
    Launcher launcher{.variable = variable, .ranks = {}};
    for (const char* size : kSizeVariables) {
      if (!launcher.ranks) launcher.ranks = read_count(environment(size));
    }
    return launcher;
  }
  return {};
}

void announce_end(const Environment& environment) {
  const std::optional<int> socket = read_count(environment("PMI_FD"));
  if (environment(kHydra) == nullptr || !socket) return;
  if (::write(*socket, kEnd.data(), kEnd.size()) == static_cast<ssize_t>(kEnd.size()))
    sleep_until_s(now_s() + kAnswerS);
}

}  // namespace chexbench::comm

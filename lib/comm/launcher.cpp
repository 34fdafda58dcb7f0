#include "comm/launcher.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace chexbench::comm {
namespace {

// Set for each rank by: MPICH's and Intel's hydra and Slurm's PMI-2 (PMI_*), PMIx launchers, Open MPI.
constexpr std::array kRankVariables{"PMI_RANK", "PMI_FD", "PMI_PORT", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
constexpr std::array kSizeVariables{"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"};

std::optional<int> read_count(const char* text) {
  if (text == nullptr) return {};
  const std::string_view view(text);
  int value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size() || value < 1) return {};
  return value;
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

}  // namespace chexbench::comm

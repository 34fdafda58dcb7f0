#include "measure/surroundings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/text.hpp"

namespace chexbench::measure {
namespace {

using Warnings = std::vector<std::string>;

constexpr double kGigabyte = 1e9;
constexpr double kLittleMemoryBytes = 2e9;  // a rank's buffers and weights take about as much
constexpr double kBusyShare = 0.25;         // of the cores: more foreign threads move a median by more than noise

bool intersect(const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::any_of(a, [&](int cpu) { return std::ranges::find(b, cpu) != b.end(); });
}

// Returns the cores of this host that ranks were bound to, each core once.
std::vector<int> own_cores(const Surroundings& surroundings) {
  std::vector<int> cores;
  for (const BoundRank& rank : surroundings.ranks) {
    if (rank.host == surroundings.ranks.front().host) cores.insert(cores.end(), rank.cores.begin(), rank.cores.end());
  }
  std::ranges::sort(cores);
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

void warn_of_clocks(const CpuLayout& cpu, Warnings& found) {
  for (const auto& [governor, cpus] : cpu.governors) {
    if (governor == "performance") continue;
    found.push_back(
        fmt::format("the frequency governor is '{}' on {} of {} CPUs, so their clocks follow the load: set it to "
                    "'performance' (cpupower frequency-set -g performance)",
                    governor, cpus, cpu.hardware_threads));
  }
}

// Load is harmless if it fits on cores that no rank was bound to.
void warn_of_load(const CpuLayout& cpu, std::size_t cores, Warnings& found) {
  const double spare_cores = std::max(0.0, cpu.physical_cores - static_cast<double>(cores));
  if (!cpu.load || *cpu.load <= spare_cores + kBusyShare * static_cast<double>(cores)) return;
  found.push_back(
      fmt::format("the load average is {:.1f}, and ranks have {} of {} cores: stop other programs, or trust only "
                  "ratios of trials measured in the same rounds",
                  *cpu.load, cores, std::max<std::size_t>(cores, cpu.physical_cores)));
}

void warn_of_limits(const Surroundings& surroundings, std::size_t cores, Warnings& found) {
  const CgroupLimits& cgroup = surroundings.cgroup;
  if (cgroup.cpus && *cgroup.cpus < static_cast<double>(cores)) {
    found.push_back(
        fmt::format("the cgroup grants the CPU time of {:.2f} cores where ranks have {}, and stops all "
                    "threads once it is used up: ask the container or job for {} whole cores, or bind to "
                    "fewer",
                    *cgroup.cpus, cores, cores));
  }
  double available_bytes = static_cast<double>(surroundings.memory.available_bytes);
  if (cgroup.memory_bytes && static_cast<double>(*cgroup.memory_bytes) < available_bytes)
    available_bytes = static_cast<double>(*cgroup.memory_bytes);
  if (available_bytes > 0 && available_bytes < kLittleMemoryBytes) {
    found.push_back(
        fmt::format("{:.1f} GB of memory is available, which leaves little for the page cache: end other "
                    "programs, raise the job's memory, or lower training.batch_size",
                    available_bytes / kGigabyte));
  }
}

// For the ranks that were started, but at least one a core, so that a trial with one rank warns before the next job.
void warn_of_shared_memory(const Surroundings& surroundings, std::size_t cores, Warnings& found) {
  const auto started = std::ranges::count(surroundings.ranks, surroundings.ranks.front().host, &BoundRank::host);
  const std::size_t ranks = std::max(cores, static_cast<std::size_t>(started));
  const std::uint64_t bytes = shared_bytes_of(ranks);
  if (!surroundings.shared.exists || surroundings.shared.total_bytes >= bytes) return;
  constexpr double kMegabyte = 1e6;
  found.push_back(fmt::format("/dev/shm holds {:.0f} MB, and MPI takes up to {:.0f} MB of it for {} here: {}",
                              static_cast<double>(surroundings.shared.total_bytes) / kMegabyte,
                              static_cast<double>(bytes) / kMegabyte, count_text(ranks, "rank"), kMoreSharedMemory));
}

// Ranks that are bound to exactly the same cores divide them among each other. Ranks whose cores only overlap cannot.
void warn_of_overlaps(const std::vector<BoundRank>& ranks, Warnings& found) {
  for (std::size_t a = 0; a < ranks.size(); ++a) {
    for (std::size_t b = a + 1; b < ranks.size(); ++b) {
      if (ranks[a].host != ranks[b].host || ranks[a].cores == ranks[b].cores) continue;
      if (!intersect(ranks[a].cores, ranks[b].cores)) continue;
      found.push_back(
          fmt::format("ranks {} and {} are bound to cores of {} that overlap ({} and {}): start them with mpirun "
                      "--bind-to socket or --bind-to core",
                      a, b, ranks[a].host, cpu_list_text(ranks[a].cores), cpu_list_text(ranks[b].cores)));
      return;
    }
  }
}

void warn_of_crowds(const std::vector<BoundRank>& ranks, Warnings& found) {
  for (const BoundRank& rank : ranks) {
    const auto sharers = std::ranges::count_if(
        ranks, [&](const BoundRank& other) { return other.host == rank.host && other.cores == rank.cores; });
    if (static_cast<std::size_t>(sharers) <= rank.cores.size()) continue;
    found.push_back(fmt::format("{} ranks share {} core{} of {} ({}): start at most one rank a core", sharers,
                                rank.cores.size(), rank.cores.size() == 1 ? "" : "s", rank.host,
                                cpu_list_text(rank.cores)));
    return;
  }
}

// A single rank may span the whole machine; of several ranks, each should stay on one NUMA node.
void warn_of_numa(const Surroundings& surroundings, Warnings& found) {
  if (surroundings.ranks.size() < 2) return;
  for (std::size_t r = 0; r < surroundings.ranks.size(); ++r) {
    const BoundRank& rank = surroundings.ranks[r];
    if (rank.host != surroundings.ranks.front().host) continue;
    const auto nodes = std::ranges::count_if(surroundings.cpu.numa_nodes,
                                             [&](const std::vector<int>& node) { return intersect(node, rank.cores); });
    if (nodes < 2) continue;
    found.push_back(
        fmt::format("rank {} is bound to cores of {} NUMA nodes ({}), so part of its memory is far away: "
                    "start with mpirun --bind-to socket",
                    r, nodes, cpu_list_text(rank.cores)));
    return;
  }
}

void warn_of_threads(const std::vector<EnvironmentSetting>& threading, Warnings& found) {
  for (const auto& [name, value] : threading) {
    const bool spins = (name == "OMP_WAIT_POLICY" && lower_case(value) == "active") ||
                       (name == "KMP_BLOCKTIME" && value != "0") || (name == "GOMP_SPINCOUNT" && value != "0");
    if (!spins) continue;
    found.push_back(
        fmt::format("{}={} lets threads of the onednn engine spin while they wait, on cores that decoding "
                    "needs: unset it (chexbench chooses OMP_WAIT_POLICY=passive by itself)",
                    name, value));
  }
}

void warn_of_place(const FileSystem& system, Warnings& found) {
  switch (system.kind) {
    case FileSystemKind::network:
      found.push_back(
          fmt::format("the data lie on {} ({}), whose server has other users and a cache: copy "
                      "them to a local disk, or repeat at several times of day",
                      system.type, system.source));
      break;
    case FileSystemKind::fuse:
      found.push_back(
          fmt::format("the data lie on {} ({}), where each read passes through another program: copy them "
                      "to a local disk, or measure that program's part by measure.page_cache cold",
                      system.type, system.source));
      break;
    case FileSystemKind::overlay:
      found.emplace_back(
          "the data lie in a container's overlay, which looks for each file in all its layers: mount "
          "the folder of the host into the container");
      break;
    case FileSystemKind::memory:
      found.push_back(
          fmt::format("the data lie in memory ({}), so nothing is read from storage: copy them to a disk "
                      "where storage is to count",
                      system.type));
      break;
    case FileSystemKind::local:
    case FileSystemKind::unknown:
      break;
  }
}

void warn_of_data(const DataPlace& data, Warnings& found) {
  warn_of_place(data.file_system, found);
  if (data.file_system.kind == FileSystemKind::memory) return;
  const std::string word = data.cache_word();
  if (word != "cold" && word != "partly cached") return;
  found.push_back(
      fmt::format("{:.0f} % of sampled data are in the page cache, so the first repeats read storage and later ones "
                  "memory: set measure.page_cache to warm or cold",
                  100 * data.cached_share()));
}

}  // namespace

const std::vector<std::string>& threading_variables() {
  static const std::vector<std::string> names{"OMP_WAIT_POLICY", "OMP_NUM_THREADS", "OMP_PROC_BIND", "GOMP_SPINCOUNT",
                                              "KMP_BLOCKTIME"};
  return names;
}

std::vector<std::string> warnings(const Surroundings& surroundings) {
  Warnings found;
  const std::size_t cores = own_cores(surroundings).size();
  warn_of_clocks(surroundings.cpu, found);
  warn_of_load(surroundings.cpu, cores, found);
  warn_of_limits(surroundings, cores, found);
  warn_of_shared_memory(surroundings, cores, found);
  warn_of_overlaps(surroundings.ranks, found);
  warn_of_crowds(surroundings.ranks, found);
  warn_of_numa(surroundings, found);
  warn_of_threads(surroundings.threading, found);
  if (surroundings.data) warn_of_data(*surroundings.data, found);
  return found;
}

}  // namespace chexbench::measure

#include "bench/rank_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "bench/rank_records.hpp"
#include "core/affinity.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "measure/system_files.hpp"

namespace chexbench::bench {
namespace {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

bool intersect(const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::any_of(a, [&](int core) { return std::ranges::find(b, core) != b.end(); });
}

RankView own_view(const HostCores& host, const std::vector<engine::GpuIdentity>& visible) {
  RankView view{.host = host.host, .cores = host.cores};
  for (const engine::GpuIdentity& gpu : visible) view.gpus.push_back({gpu, cpus_near(gpu.pci_bus_id)});
  return view;
}

std::size_t common(const std::vector<int>& a, const std::vector<int>& b) {
  return static_cast<std::size_t>(std::ranges::count_if(a, [&](int cpu) { return std::ranges::count(b, cpu) > 0; }));
}

// Returns the index of the free GPU near most of the rank's cores, or -1 if none is free.
int nearest_free(const RankView& rank, const std::set<std::string>& taken) {
  int best = -1;
  std::size_t most = 0;
  for (std::size_t i = 0; i < rank.gpus.size(); ++i) {
    if (taken.contains(rank.gpus[i].gpu.uuid)) continue;
    const std::size_t near = common(rank.cores, rank.gpus[i].cpus);
    if (best >= 0 && near <= most) continue;
    best = static_cast<int>(i);
    most = near;
  }
  return best;
}

}  // namespace

HostCores host_cores_of(const std::vector<RankCores>& ranks, std::size_t rank) {
  const RankCores& own = ranks[rank];
  HostCores host{.cores = own.cores, .hyperthreads = own.hyperthreads, .sharers = 0, .host = own.host};
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].host != own.host) continue;
    if (r < rank) ++host.local_rank;
    if (ranks[r].cores == own.cores) {
      if (r < rank) ++host.place;
      ++host.sharers;
    } else {
      host.overlaps = host.overlaps || intersect(ranks[r].cores, own.cores);
    }
  }
  return host;
}

std::vector<RankCores> gather_rank_cores(comm::World& world) {
  RankCores own{.host = host_name(), .cores = usable_cores(), .hyperthreads = usable_cpus()};
  std::erase_if(own.hyperthreads, [&](int cpu) { return std::ranges::find(own.cores, cpu) != own.cores.end(); });
  return all_gather_records(world.communicator(), own);
}

std::string describe(const RankCores& rank) { return fmt::format("{}: {}", rank.host, fmt::join(rank.cores, " ")); }

HostCores find_host_cores(comm::World& world) {
  return host_cores_of(gather_rank_cores(world), static_cast<std::size_t>(world.communicator().rank()));
}

CoreShare share_cores(const HostCores& host, const spec::TrialSpec& spec, int ranks) {
  const int cores = static_cast<int>(host.cores.size());
  const int active_sharers = std::min(ranks, host.sharers);
  if (spec.all_cores) return {.cores = host.cores, .oversubscribed = host.overlaps || active_sharers > 1};
  const int wanted = spec.cores_per_rank.value_or(std::max(1, cores / host.sharers));
  const int first = host.place * wanted;
  CoreShare share;
  // Ranks beyond the number of cores get separate hyperthreads, while there are any, instead of another rank's CPU.
  const bool beyond = first >= cores && !host.hyperthreads.empty();
  const std::vector<int>& cpus = beyond ? host.hyperthreads : host.cores;
  const int begin = beyond ? first - cores : first, count = static_cast<int>(cpus.size());
  for (int i = 0; i < std::min(wanted, count); ++i) share.cores.push_back(cpus[(begin + i) % count]);
  share.oversubscribed = host.overlaps || active_sharers * wanted > cores;
  return share;
}

std::optional<std::pair<std::size_t, std::size_t>> find_shared_gpu(const std::vector<RankGpu>& ranks) {
  for (std::size_t later = 1; later < ranks.size(); ++later) {
    for (std::size_t rank = 0; rank < later; ++rank) {
      if (ranks[rank].gpu.uuid == ranks[later].gpu.uuid) return std::pair(rank, later);
    }
  }
  return {};
}

void check_shared_gpus(const std::vector<RankGpu>& ranks, bool allow_shared_gpu) {
  const auto shared = find_shared_gpu(ranks);
  if (!shared) return;
  const RankGpu& first = ranks[shared->first];
  if (!allow_shared_gpu) {
    throw DeviceError(
        fmt::format("ranks {} and {} on host {} would share the GPU {} ({}, {}): start no more ranks on a host than it "
                    "has GPUs, show each its own by CUDA_VISIBLE_DEVICES, or use --allow-shared-gpu for trials "
                    "whose figures do not matter",
                    shared->first, shared->second, first.host, first.gpu.pci_bus_id, first.gpu.name, first.gpu.uuid));
  }
  const auto elsewhere = std::ranges::find_if(ranks, [&](const RankGpu& rank) { return rank.host != first.host; });
  if (elsewhere != ranks.end()) {
    throw DeviceError(fmt::format(
        "--allow-shared-gpu: ranks are on hosts {} and {}, but ranks that share a GPU use the loopback interface: "
        "start all of them on one host",
        first.host, elsewhere->host));
  }
}

// From the sources of NCCL 2.28.9: init.cc reports two ranks with the same host hash and bus id as duplicates, and
// utils.cc hashes NCCL_HOSTID. paths.cc and shm.cc do not connect ranks of different hashes, except over the NVLink of
// a rack (MNNVL). socket.cc considers "lo" last, and a leading "=" makes it compare the whole name.
std::vector<std::pair<std::string, std::string>> shared_gpu_environment(const std::string& host, int rank) {
  return {{"NCCL_HOSTID", fmt::format("{}-rank-{}", host, rank)},
          {"NCCL_NET", "Socket"},
          {"NCCL_SOCKET_IFNAME", "=lo"},
          {"NCCL_MNNVL_ENABLE", "0"}};
}

std::vector<std::pair<std::string, std::string>> deterministic_environment() {
  return {{"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "Simple"}};
}

GpuShare share_gpus(comm::Communicator& ranks, const HostCores& host, const std::vector<engine::GpuIdentity>& visible,
                    bool allow_shared_gpu) {
  if (visible.empty()) {
    throw DeviceError(
        fmt::format("rank {} on host {}: CUDA shows it no GPU (CUDA_VISIBLE_DEVICES?)", ranks.rank(), host.host));
  }
  const std::vector<RankView> views = all_gather_records(ranks, own_view(host, visible));
  const std::vector<int> assigned = assign_gpus(views);
  std::vector<RankGpu> all;
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    const NearGpu& near = views[rank].gpus[static_cast<std::size_t>(assigned[rank])];
    all.push_back({.host = views[rank].host, .gpu = near.gpu});
  }
  const int gpu = assigned[static_cast<std::size_t>(ranks.rank())];
  check_shared_gpus(all, allow_shared_gpu);
  if (!find_shared_gpu(all)) return {.gpu = gpu};
  for (const auto& [name, value] : shared_gpu_environment(host.host, ranks.rank())) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  if (ranks.rank() == 0) log::warning("ranks share a GPU, so nothing measured here describes that GPU");
  return {.gpu = gpu, .shared = true};
}

std::vector<int> assign_gpus(const std::vector<RankView>& ranks) {
  std::set<std::string> taken;
  std::map<std::string, int> before;  // ranks of each host
  std::vector<int> assigned;
  for (const RankView& rank : ranks) {
    const int local_rank = before[rank.host]++;
    const int free = nearest_free(rank, taken);
    assigned.push_back(free >= 0 ? free : local_rank % static_cast<int>(rank.gpus.size()));
    taken.insert(rank.gpus[static_cast<std::size_t>(assigned.back())].gpu.uuid);
  }
  return assigned;
}

std::vector<int> cpus_near(const std::string& pci_bus_id, const std::string& folder) {
  return measure::parse_cpu_list(
      measure::read_line(folder + "/" + lower_case(pci_bus_id) + "/local_cpulist").value_or(""));
}

}  // namespace chexbench::bench

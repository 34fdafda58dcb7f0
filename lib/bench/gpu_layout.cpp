#include "bench/gpu_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "comm/texts.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"

namespace chexbench::bench {
namespace {

RankView own_view(const HostCores& host, const std::vector<engine::GpuIdentity>& visible) {
  RankView view{.host = host.host, .cores = host.cores};
  for (const engine::GpuIdentity& gpu : visible) view.gpus.push_back({gpu, cpus_near(gpu.pci_bus_id)});
  return view;
}

std::vector<RankView> gather_views(comm::Communicator& ranks, const RankView& own) {
  std::vector<RankView> views;
  for (const std::string& text : comm::all_gather(ranks, to_text(own))) views.push_back(rank_view_from_text(text));
  return views;
}

}  // namespace

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
  const std::vector<RankView> views = gather_views(ranks, own_view(host, visible));
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

}  // namespace chexbench::bench

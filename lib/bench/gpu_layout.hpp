// Decides which GPU each rank gets, and sets up ranks that share one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/core_layout.hpp"
#include "comm/communicator.hpp"
#include "engine/registry.hpp"

namespace chexbench::bench {

// Finds which GPU is near which cores, and so which rank takes which GPU.

// A GPU and the CPUs near it.
struct NearGpu {
  engine::GpuIdentity gpu;
  std::vector<int> cpus;  // of the socket or NUMA node it is attached to; empty if unknown
};
template <class Visitor, results::MaybeConst<NearGpu> Record>
void visit_fields(Visitor&& visit, Record& near) {
  visit("name", near.gpu.name);
  visit("uuid", near.gpu.uuid);
  visit("pci_bus_id", near.gpu.pci_bus_id);
  visit("cpus", near.cpus);
}

// A rank's description of its host, cores and GPUs for the others.
struct RankView {
  std::string host;
  std::vector<int> cores;     // those that it may use
  std::vector<NearGpu> gpus;  // those visible to CUDA, in CUDA's order
};
template <class Visitor, results::MaybeConst<RankView> Record>
void visit_fields(Visitor&& visit, Record& view) {
  visit("host", view.host);
  visit("cores", view.cores);
  visit("gpus", view.gpus);
}

// Returns for each rank the index, in its RankView::gpus, of the GPU that it takes. This is the free GPU near most of
// the rank's cores, or the first of several equally near. If none is free, the ranks of a host take them round robin.
// Each rank must have a GPU.
std::vector<int> assign_gpus(const std::vector<RankView>& ranks);

// Returns the CPUs near a PCI device such as "0000:17:00.0", as a folder laid out like /sys/bus/pci/devices lists them;
// an empty list if there is none for the device.
std::vector<int> cpus_near(const std::string& pci_bus_id, const std::string& folder = "/sys/bus/pci/devices");

// Parses a list of CPUs in the kernel's format, such as "0-3,8,10-11". Returns an empty list for any other text.
std::vector<int> parse_cpu_list(std::string_view text);

// The GPU that one rank takes.
struct RankGpu {
  std::string host;
  engine::GpuIdentity gpu;
};

// Returns the first two ranks on one GPU, or std::nullopt if no ranks share one. Compares UUIDs, so it works even if
// containers number the GPUs differently.
std::optional<std::pair<std::size_t, std::size_t>> find_shared_gpu(const std::vector<RankGpu>& ranks);

// Checks ranks that share GPUs.
// @throws DeviceError if ranks share a GPU and allow_shared_gpu is false; the message names two ranks, their host and
// the GPU
// @throws DeviceError if ranks share a GPU with permission, but the ranks are on several hosts
void check_shared_gpus(const std::vector<RankGpu>& ranks, bool allow_shared_gpu);

// Returns the environment variables for rank `rank` that make NCCL accept several ranks on one GPU. NCCL treats two
// ranks of one host on one GPU as an error, so each rank pretends to be on a separate host. The ranks then use neither
// shared memory nor NVLink, but sockets on the loopback interface, which NCCL avoids unless it is named.
std::vector<std::pair<std::string, std::string>> shared_gpu_environment(const std::string& host, int rank);

// Returns the environment variables that make NCCL add in the same order in each run. Without them it chooses algorithm
// and protocol by size and topology, and the choice may vary.
std::vector<std::pair<std::string, std::string>> deterministic_environment();

struct GpuShare {
  int gpu = 0;          // index among the GPUs visible to this rank
  bool shared = false;  // some ranks of the world share a GPU
};

// Gives each rank a GPU near its cores. `visible` are the GPUs visible to this rank, in CUDA's
// order. If ranks share GPUs, it also sets shared_gpu_environment() in this process, so it must be called before any
// rank uses NCCL. Collective over the world.
// @throws DeviceError if this rank sees no GPU, if a rank was lost, or as check_shared_gpus() does
GpuShare share_gpus(comm::Communicator& ranks, const HostCores& host, const std::vector<engine::GpuIdentity>& visible,
                    bool allow_shared_gpu);

}  // namespace chexbench::bench

// Decides which cores each rank gets, from the cores to which the launcher bound the ranks of a host, and which GPU.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "engine/registry.hpp"
#include "results/field.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// The cores of this host as this rank sees them. Find them once per process, before binding any thread, because binding
// hides the other cores from later queries.
struct HostCores {
  std::vector<int> cores;         // one CPU of each core that this process may use
  std::vector<int> hyperthreads;  // the other CPUs that it may use
  // Number of ranks of this host that may use exactly these cores, which are divided among them.
  int sharers = 1;
  int place = 0;          // of this rank among the sharers, from 0
  bool overlaps = false;  // another rank of this host may use some of these cores, but not exactly these
  int local_rank = 0;     // of this rank among the ranks of this host, from 0
  std::string host;       // name of the host
};

// A rank's description of itself for the others.
struct RankCores {
  std::string host;
  std::vector<int> cores;         // one CPU of each core that it may use
  std::vector<int> hyperthreads;  // the other CPUs that it may use
};
template <class Visitor, results::MaybeConst<RankCores> Record>
void visit_fields(Visitor&& visit, Record& rank) {
  visit("host", rank.host);
  visit("cores", rank.cores);
  visit("hyperthreads", rank.hyperthreads);
}

// Returns the host and the cores of every rank, in the order of ranks. Collective over the world.
// @throws DeviceError if a rank was lost
std::vector<RankCores> gather_rank_cores(comm::World& world);

// Derives the HostCores of rank `rank` from the descriptions of all ranks. A pure function.
HostCores host_cores_of(const std::vector<RankCores>& ranks, std::size_t rank);

// Finds out how the launcher has bound the ranks of this host. Collective over the world.
// @throws DeviceError if a rank was lost
HostCores find_host_cores(comm::World& world);

// Returns "node1: 0 1 2 3" for the report.
std::string describe(const RankCores& rank);

// The cores that one rank computes on.
struct CoreShare {
  std::vector<int> cores;
  bool oversubscribed = false;  // other ranks of the trial may also use some of them
};

// Returns this rank's share of the cores under `spec` in a trial of `ranks` ranks. The default number of cores,
// floor(cores / ranks that were started on them) but at least 1, does not depend on `ranks`: otherwise a single rank
// would take all cores, and scaling efficiency would be wrong by construction. A pure function.
CoreShare share_cores(const HostCores& host, const spec::TrialSpec& spec, int ranks);

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

// Decides which GPU each rank gets, and what ranks that share one need.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/core_layout.hpp"
#include "bench/gpu_affinity.hpp"
#include "comm/communicator.hpp"
#include "engine/gpus.hpp"

namespace chexbench::bench {

// The GPU that one rank takes.
struct RankGpu {
  std::string host;
  engine::GpuIdentity gpu;
};

// Returns the first two ranks that are on one GPU, or std::nullopt if no ranks share one. Compares UUIDs, so containers
// that number the GPU differently do not matter.
std::optional<std::pair<std::size_t, std::size_t>> find_shared_gpu(const std::vector<RankGpu>& ranks);

// Checks ranks that share GPUs.
// @throws DeviceError if ranks share a GPU and allow_shared_gpu is false; the message names two ranks, their host and
// the GPU
// @throws DeviceError if ranks share a GPU with permission, but the ranks are on several hosts
void check_shared_gpus(const std::vector<RankGpu>& ranks, bool allow_shared_gpu);

// Returns the environment variables with which NCCL accepts ranks on one GPU, for rank `rank`. NCCL treats two ranks of
// one host on one GPU as an error, so each rank pretends to be on a host of its own. The ranks then use neither shared
// memory nor NVLink, but sockets on the loopback interface, which NCCL avoids unless it is named.
std::vector<std::pair<std::string, std::string>> shared_gpu_environment(const std::string& host, int rank);

// Returns the environment variables with which NCCL adds in the same order in each run. Without them it chooses
// algorithm and protocol by size and topology, and may choose differently.
std::vector<std::pair<std::string, std::string>> deterministic_environment();

struct GpuShare {
  int gpu = 0;          // index among the GPUs that CUDA shows this rank
  bool shared = false;  // some ranks of the world share a GPU
};

// Gives each rank a GPU near its cores (gpu_affinity.hpp). `visible` are the GPUs that CUDA shows this rank, in CUDA's
// order. If ranks share GPUs, it also sets shared_gpu_environment() in this process, so it must be called before any
// rank uses NCCL. Collective over the world.
// @throws DeviceError if this rank sees no GPU, if a rank was lost, or as check_shared_gpus() does
GpuShare share_gpus(comm::Communicator& ranks, const HostCores& host, const std::vector<engine::GpuIdentity>& visible,
                    bool allow_shared_gpu);

}  // namespace chexbench::bench

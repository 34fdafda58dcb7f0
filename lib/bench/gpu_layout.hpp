// Which GPU each rank gets.
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

// What one rank tells the others of its own.
struct RankGpu {
  std::string host;
  engine::GpuIdentity gpu;
};

// The first two ranks that are on one GPU, in whatever containers and under whatever numbers.
std::optional<std::pair<std::size_t, std::size_t>> find_shared_gpu(const std::vector<RankGpu>& ranks);

// Lets ranks that share GPUs through or not. @throws DeviceError that names two of them, their host and the GPU, unless
// they are allowed; and where they are, but on several hosts
void check_shared_gpus(const std::vector<RankGpu>& ranks, bool allow_shared_gpu);

// What NCCL must find in the environment of rank `rank` for it to put up with ranks on one GPU. It takes those of one
// host for an error, so each rank passes for a host of its own: no shared memory and no NVLink between them, but
// sockets, on the loopback interface, which NCCL avoids unless it is named.
std::vector<std::pair<std::string, std::string>> shared_gpu_environment(const std::string& host, int rank);

// What NCCL must find in the environment so that it adds in the same order in each run: it chooses algorithm and
// protocol by size and topology, and may choose differently.
std::vector<std::pair<std::string, std::string>> deterministic_environment();

struct GpuShare {
  int gpu = 0;          // of this rank, of those that CUDA shows it
  bool shared = false;  // some ranks share one
};

// Collective over the world, before any rank uses NCCL: each rank takes a GPU near its cores (gpu_affinity.hpp). Sets
// the environment where ranks share GPUs.
// @throws DeviceError where this rank sees no GPU, or as check_shared_gpus() does
GpuShare share_gpus(comm::Communicator& ranks, const HostCores& host, const std::vector<engine::GpuIdentity>& visible,
                    bool allow_shared_gpu);

}  // namespace chexbench::bench

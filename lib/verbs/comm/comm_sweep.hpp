// Measures the reducers that trainings use, by size and number of ranks, for `chexbench comm`.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.hpp"
#include "verbs/comm/comm_result.hpp"

namespace chexbench::verbs {

// automatic: device where CUDA shows every rank a GPU, else host.
enum class CommMemory { automatic, host, device };

struct CommOptions {
  std::uint64_t min_bytes = 8;
  std::uint64_t max_bytes = 128u << 20;
  std::vector<int> ranks;                 // worlds to measure, each from 2 to all; empty: 2, 4, 8, ... and all
  GradientType type = GradientType::f32;  // or f16
  CommMemory memory = CommMemory::automatic;
  spec::CommSpec comm;  // update, servers, ranks_per_group; the backend of device memory; a shaped link
  bool allow_shared_gpu = false;
  int repeats = 7;
};

// Sizes from min_bytes on, doubled until max_bytes. Every result is checked once before its size is timed. Collective
// over the world; only rank 0 gets rows. All but chexbench_version is filled in.
// @throws SpecError for a world of one, more ranks than there are, sizes that are no multiple of an element or in the
// wrong order; DeviceError where a sum is wrong, a rank is lost, a GPU is missing or shared, or f16 is asked for in
// host memory, whose gradients are f32
CommResult measure_comm(comm::World& world, const CommOptions& options);

// @throws SpecError as above; every rank comes to the same answer
void check_comm_options(const CommOptions& options, int world);

}  // namespace chexbench::verbs

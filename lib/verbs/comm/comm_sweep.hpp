// Times the reducers of trainings by size and number of ranks, for `chexbench comm`.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.hpp"
#include "verbs/comm/comm_result.hpp"

namespace chexbench::verbs {

// The memory of the gradients. automatic means device if every rank sees a GPU through CUDA, and host otherwise.
enum class CommMemory { automatic, host, device };

struct CommOptions {
  std::uint64_t min_bytes = 8;
  std::uint64_t max_bytes = 128u << 20;
  std::vector<int> ranks;           // numbers of ranks to measure, each at least 2; empty: 2, 4, 8, ... and all
  FloatType type = FloatType::f32;  // fp16 works only in device memory
  CommMemory memory = CommMemory::automatic;
  spec::CommSpec comm;  // the scheme (update, servers, ranks_per_group), the backend for device memory, a shaped link
  bool allow_shared_gpu = false;  // lets several ranks use one GPU
  int repeats = 7;
};

// Measures sizes from min_bytes on, doubled up to max_bytes, for each number of ranks, and fits the ring model to them.
// Each size is timed after one check of its average. Every rank gets the rows of its groups, so rank 0 gets all of
// them. Collective over the world.
// @throws SpecError on every rank, if there is only one rank, a number of ranks is not between 2 and all, the sizes are
// not multiples of an element or in the wrong order, or options.comm has more servers than there are ranks
// @throws DeviceError if an average is wrong, a rank is lost, a GPU is missing or shared without allow_shared_gpu, or
// fp16 is requested in host memory, where gradients are f32
// @throws InterruptedError if a signal arrives
CommResult measure_comm(comm::World& world, const CommOptions& options);

}  // namespace chexbench::verbs

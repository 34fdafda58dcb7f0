// Measures, for `chexbench comm`, how long the reducers that trainings use take, by size and number of ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.hpp"
#include "verbs/comm/comm_result.hpp"

namespace chexbench::verbs {

// The memory of the gradients. automatic means device if CUDA shows every rank a GPU, and host otherwise.
enum class CommMemory { automatic, host, device };

struct CommOptions {
  std::uint64_t min_bytes = 8;
  std::uint64_t max_bytes = 128u << 20;
  std::vector<int> ranks;                 // numbers of ranks to measure, each at least 2; empty: 2, 4, 8, ... and all
  GradientType type = GradientType::f32;  // f16 works only in device memory
  CommMemory memory = CommMemory::automatic;
  spec::CommSpec comm;  // the scheme (update, servers, ranks_per_group), the backend for device memory, a shaped link
  bool allow_shared_gpu = false;  // lets several ranks use one GPU
  int repeats = 7;
};

// Measures sizes from min_bytes on, doubled up to max_bytes, for each number of ranks, and fits the ring model to them.
// A size is timed after its average has been checked once. Fills everything except chexbench_version. Every rank gets
// the rows of the groups that it is in, so rank 0 gets all of them. Collective over the world.
// @throws SpecError as check_comm_options(), or if options.comm asks for more servers than there are ranks
// @throws DeviceError if an average is wrong, a rank is lost, a GPU is missing or shared without allow_shared_gpu, or
// f16 is asked for in host memory, whose gradients are f32
// @throws InterruptedError if a signal arrives
CommResult measure_comm(comm::World& world, const CommOptions& options);

// Checks the options for a world of `world` ranks; every rank comes to the same result.
// @throws SpecError if there is only one rank, a number of ranks is not between 2 and `world`, or the sizes are not
// multiples of an element or in the wrong order
void check_comm_options(const CommOptions& options, int world);

}  // namespace chexbench::verbs

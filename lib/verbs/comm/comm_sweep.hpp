// Times the reducers of trainings by size and number of ranks, for `chexbench comm`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "core/reducer.hpp"
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
// Each size is timed after one check of its average. Fills everything except chexbench_version. Every rank gets the
// rows of its groups, so rank 0 gets all of them. Collective over the world.
// @throws SpecError as check_comm_options(), or if options.comm has more servers than there are ranks
// @throws DeviceError if an average is wrong, a rank is lost, a GPU is missing or shared without allow_shared_gpu, or
// fp16 is requested in host memory, where gradients are f32
// @throws InterruptedError if a signal arrives
CommResult measure_comm(comm::World& world, const CommOptions& options);

// Checks the options for a world of `world` ranks; every rank gets the same result.
// @throws SpecError if there is only one rank, a number of ranks is not between 2 and `world`, or the sizes are not
// multiples of an element or in the wrong order
void check_comm_options(const CommOptions& options, int world);

// The memory in which `chexbench comm` averages: of the host or of a GPU.

// A buffer of values. Not thread-safe.
// @throws DeviceError from any function if the GPU fails
class GradientMemory {
 public:
  virtual ~GradientMemory() = default;
  virtual FloatType type() const = 0;
  // Returns the first `values` values as a span that a reducer takes. The memory stays owned by this object.
  virtual BucketSpan bucket(std::size_t values) = 0;
  // Returns the event that a reducer must wait for before it uses the values of the last write(); null in host memory.
  virtual ReadyEvent written() = 0;
  // Copy values to and from the beginning of the buffer. write() rounds values that type() cannot represent.
  virtual void write(std::span<const float> values) = 0;
  virtual void read(std::span<float> values) = 0;
};

// Allocates `bytes` bytes of f32 in host memory.
std::unique_ptr<GradientMemory> make_host_memory(std::size_t bytes);
// Allocates `bytes` bytes of f32 or fp16 on the GPU with CUDA's index `gpu` in this process.
// @throws DeviceError if this build or this machine lacks CUDA, there is no such GPU, or its memory is too small
std::unique_ptr<GradientMemory> make_gpu_memory(std::size_t bytes, FloatType type, int gpu);

}  // namespace chexbench::verbs

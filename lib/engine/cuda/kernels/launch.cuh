// Launches the operations, the functors of the headers. For the tests the launchers are compiled as C++ against another
// launch.cuh that runs operations on the host.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "engine/cuda/kernels/channel_grid.hpp"
#include "engine/cuda/kernels/channel_sums.hpp"
#include "engine/cuda/kernels/dispatch.hpp"
#include "engine/cuda/kernels/launch_check.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename Op>
__global__ void __launch_bounds__(kThreads) run_channels(const Op op, const ChannelGrid grid) {
  run_lane(op, grid, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
}

template <typename Op>
__global__ void __launch_bounds__(kThreads) run_calls(const Op op, const std::int64_t calls) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < calls; i += step) op(i);
}

// Of the threads of a block. The host part of a compilation sees an empty function.
struct BlockBarrier {
  CHEXBENCH_HOST_DEVICE void operator()() const {
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
  }
};

// Waits for the threads of a block, and draws tickets among blocks. One thread's fences suffice, because they cover
// what its block wrote before the barrier: so does the grid's barrier of CUDA's cooperative groups. The indices are
// read anew at each call, which costs less than a register that holds one while rows stream through.
struct DeviceSync : BlockBarrier {
  CHEXBENCH_HOST_DEVICE unsigned draw([[maybe_unused]] unsigned* ticket) const {
    unsigned drawn = 0;
#ifdef __CUDA_ARCH__
    __threadfence();
    drawn = atomicAdd(ticket, 1u);
    __threadfence();
#endif
    return drawn;
  }
  CHEXBENCH_HOST_DEVICE int block() const {
    int index = 0;
#ifdef __CUDA_ARCH__
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
#endif
    return index;
  }
  CHEXBENCH_HOST_DEVICE int thread() const {
    int index = 0;
#ifdef __CUDA_ARCH__
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
#endif
    return index;
  }
};

template <typename Op, typename Finish>
__global__ void __launch_bounds__(kThreads) run_sums(const ChannelSums<Op, Finish> sums) {
  __shared__ typename ChannelSums<Op, Finish>::Scratch scratch;
  run_sums_thread(sums, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), scratch, DeviceSync{});
}

template <typename R>
__global__ void __launch_bounds__(R::kThreads) run_reduction(const R reduction) {
  __shared__ typename R::Scratch scratch;
  run_thread(reduction, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), scratch, BlockBarrier{});
}

// Returns how many blocks of `kKernel` run at once. A grid of that size leaves no remainder for a second, half-empty
// round. CUDA is asked once, because a step without a graph would ask hundreds of times.
template <auto kKernel>
int resident_blocks() {
  static const int resident = [] {
    int blocks = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kKernel, kThreads, 0), "occupancy");
    return std::max(blocks, 1) * multiprocessors();
  }();
  return resident;
}

// Runs an elementwise operation; each thread processes its own channels (channel_grid.hpp).
template <typename Op>
void launch_channels(const Op& op, int rows, int channels, int width, Stream stream) {
  if (rows == 0) return;
  const auto grid = ChannelGrid::of(rows, channels, width, resident_blocks<run_channels<Op>>());
  run_channels<<<static_cast<unsigned>(grid.blocks()), kThreads, 0, stream>>>(op, grid);
  check_launch("elementwise");
}

// Calls op(i) for each i below `calls`.
template <typename Op>
void launch_calls(const Op& op, std::int64_t calls, Stream stream) {
  if (calls == 0) return;
  const std::int64_t wanted = (calls + kThreads - 1) / kThreads;
  const std::int64_t blocks = std::min<std::int64_t>(wanted, resident_blocks<run_calls<Op>>());
  run_calls<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(op, calls);
  check_launch("flat");
}

template <typename R>
void launch_blocks(const R& reduction, int blocks, Stream stream) {
  run_reduction<<<static_cast<unsigned>(blocks), R::kThreads, 0, stream>>>(reduction);
  check_launch("reduction");
}

// Computes sums over the rows, per channel. `scratch` is the memory of channel_sums.hpp.
template <typename Op, typename Finish>
void launch_sums(const Op& op, const Finish& finish, int rows, int channels, void* scratch, Stream stream) {
  const int most = std::min(resident_blocks<run_sums<Op, Finish>>(), kSumBlocks * multiprocessors());
  const ChannelGrid grid = sums_grid(rows, channels, Op::kWidth, most);
  const auto sums = ChannelSums<Op, Finish>::of(op, finish, grid, scratch);
  run_sums<<<static_cast<unsigned>(grid.blocks()), kThreads, 0, stream>>>(sums);
  check_launch("sums");
}

}  // namespace chexbench::engine::cuda::kernels

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

// Begins a kernel. A programmatic launch (launch_check.hpp) starts it while the previous kernel still runs, so
// it must not touch memory before all of that kernel's results are visible; its arguments are separate. Right after
// this wait it admits the next kernel: a grid has no more blocks than run at once, so the next kernel's blocks only
// fill slots that become free, and never displace blocks of this kernel that have not begun. It does so no earlier, or
// a third and a fourth kernel could occupy slots, too.
__device__ inline void begin_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

template <typename Op>
__global__ void __launch_bounds__(kThreads) run_channels(const Op op, const ChannelGrid grid) {
  begin_kernel();
  run_lane(op, grid, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
}

template <typename Op>
__global__ void __launch_bounds__(kThreads) run_calls(const Op op, const std::int64_t calls) {
  begin_kernel();
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

// Waits for the threads of a block, and draws tickets among blocks. One thread's fences suffice, because they cover its
// block's writes before the barrier, as in the grid barrier of CUDA's cooperative groups. The indices are read again at
// each call, which costs less than holding them in registers while rows stream through.
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

// With two blocks on a multiprocessor, wide kernels have enough loads in flight. By default, ptxas keeps registers low
// for more blocks, and spills for that.
template <typename Op, typename Finish>
__global__ void __launch_bounds__(kThreads, 2) run_sums(const ChannelSums<Op, Finish> sums) {
  __shared__ typename ChannelSums<Op, Finish>::Scratch scratch;
  begin_kernel();
  run_sums_thread(sums, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), scratch, DeviceSync{});
}

template <typename R>
__global__ void __launch_bounds__(R::kThreads) run_reduction(const R reduction) {
  __shared__ typename R::Scratch scratch;
  begin_kernel();
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

// Launches a kernel that calls begin_kernel(). `what` names it in errors.
template <typename... Parameters, typename... Arguments>
void launch(const char* what, void (*kernel)(Parameters...), int blocks, int threads, Stream stream,
            const Arguments&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = launches_programmatically() ? 1 : 0;
  static_cast<void>(cudaLaunchKernelEx(&config, kernel, arguments...));
  check_launch(what);
}

// Runs an elementwise operation; each thread processes its own channels (channel_grid.hpp).
template <typename Op>
void launch_channels(const Op& op, int rows, int channels, int width, Stream stream) {
  if (rows == 0) return;
  const auto grid = ChannelGrid::of(rows, channels, width, resident_blocks<run_channels<Op>>());
  launch("elementwise", run_channels<Op>, grid.blocks(), kThreads, stream, op, grid);
}

// Calls op(i) for each i below `calls`.
template <typename Op>
void launch_calls(const Op& op, std::int64_t calls, Stream stream) {
  if (calls == 0) return;
  const std::int64_t wanted = (calls + kThreads - 1) / kThreads;
  const std::int64_t blocks = std::min<std::int64_t>(wanted, resident_blocks<run_calls<Op>>());
  launch("flat", run_calls<Op>, static_cast<int>(blocks), kThreads, stream, op, calls);
}

template <typename R>
void launch_blocks(const R& reduction, int blocks, Stream stream) {
  launch("reduction", run_reduction<R>, blocks, R::kThreads, stream, reduction);
}

// Computes sums over the rows, per channel. `scratch` is the memory of channel_sums.hpp.
template <typename Op, typename Finish>
void launch_sums(const Op& op, const Finish& finish, int rows, int channels, void* scratch, Stream stream) {
  const int most = std::min(resident_blocks<run_sums<Op, Finish>>(), kSumBlocks * multiprocessors());
  const ChannelGrid grid = sums_grid(rows, channels, Op::kWidth, most);
  launch("sums", run_sums<Op, Finish>, grid.blocks(), kThreads, stream,
         ChannelSums<Op, Finish>::of(op, finish, grid, scratch));
}

}  // namespace chexbench::engine::cuda::kernels

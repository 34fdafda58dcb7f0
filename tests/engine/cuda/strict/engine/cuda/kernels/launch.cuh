// Replaces the launchers' launch.cuh: operations are queued on streams of the strict stand-in, with the checks that
// follow a launch.
#pragma once

#include <algorithm>

#include "engine/cuda/kernels/dispatch.hpp"
#include "engine/cuda/kernels/host_run.hpp"
#include "engine/cuda/kernels/host_sums.hpp"
#include "engine/cuda/kernels/launch_check.hpp"
#include "engine/cuda/strict/strict_cuda.hpp"

namespace chexbench::engine::cuda::kernels {

// As in CUDA, a launch returns nothing; the last error reports a refusal.
inline void launch(Stream stream, strict::Work work, const char* what) {
  static_cast<void>(strict::enqueue(stream, std::move(work)));
  check_launch(what);
}

template <typename Op>
void launch_channels(const Op& op, int rows, int channels, int width, Stream stream) {
  if (rows == 0) return;
  launch(
      stream, [=] { run_channels(op, rows, channels, width, 2 * multiprocessors()); }, "elementwise");
}

template <typename Op>
void launch_calls(const Op& op, std::int64_t calls, Stream stream) {
  if (calls == 0) return;
  launch(
      stream, [=] { run_calls(op, calls); }, "flat");
}

template <typename R>
void launch_blocks(const R& reduction, int blocks, Stream stream) {
  launch(
      stream, [=] { run_reduction(reduction, blocks); }, "reduction");
}

}  // namespace chexbench::engine::cuda::kernels

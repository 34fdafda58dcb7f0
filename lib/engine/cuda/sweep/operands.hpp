// The tensors of each kernel: shapes, types, and which of them it reads and writes. The bytes that a kernel must move,
// its memory, its input values and its checks all follow from these lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cuda/sweep/kernel_call.hpp"

namespace chexbench::engine::cuda {

// The type of one element: a float type, a byte, an int32 that counts up, or kernels::StepScalars.
enum class Cell { f32, f16, bf16, u8, index, scalars };
std::size_t bytes_of(Cell cell);

// `update` reads the old content and writes the new one in the same place.
enum class Access { read, write, update };

// Numbers between center - width and center + width. With a step, they are rounded down to a multiple of it and moved
// up by the offset.
struct Values {
  float center = 0, width = 1;
  float step = 0, offset = 0;
};

// A matrix of rows `ld` elements apart. It has rows_per_item rows for each item of the call, or one row in all if that
// is 0.
struct KernelOperand {
  const char* name = "";
  Cell cell = Cell::f32;
  Access access = Access::read;
  Values values;
  int rows_per_item = 0;
  int channels = 1;
  int ld = 1;

  std::int64_t rows(std::int64_t items) const { return rows_per_item == 0 ? 1 : items * rows_per_item; }
};

std::vector<KernelOperand> operands(const KernelCall& call);

// Returns the bytes that the kernel must read and write, each element once for each.
std::int64_t bytes_moved(const KernelCall& call);

}  // namespace chexbench::engine::cuda

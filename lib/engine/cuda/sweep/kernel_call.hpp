// A call of one of the engine's own kernels: its computation, its shape, and the tensors that it reads and writes.
// Plain data, so that a list of calls can be made and tested without a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/pool.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/program.hpp"

namespace chexbench::engine::cuda {

// One value for each launcher of kernels/, or several where arguments decide how many bytes it moves.
enum class Kernel {
  statistics,
  moments,
  running_update,
  moments_and_affine,
  affine,
  normalize,
  normalize_residual,
  gradient_sums,
  gradient_sums_two,
  gradient_sums_residual,
  gradient_sums_residual_two,
  gradient_apply,
  gradient_apply_two,
  gradient_apply_masked,
  lazy_accumulate_first,
  lazy_accumulate,
  lazy_apply,
  lazy_apply_packed,
  norm_max_pool,
  norm_average_pool,
  max_pooled_gradient_sums,
  average_pooled_gradient_sums,
  max_pooled_gradient_apply,
  average_pooled_gradient_apply,
  average_pooled_lazy_accumulate,
  max_pool,
  max_pool_backward,
  average_pool,
  average_pool_backward,
  global_average,
  global_average_backward,
  adaptive_average,
  adaptive_average_backward,
  bias,
  bias_backward,
  dropout,
  add,
  copy,
  upload_gray,
  upload_color,
  upload_rgb,
  loss,
  accumulate_first,
  accumulate,
  average,
  end_batch,
  overflow_check,
  set_learning_rate,
  decide,
  adam,
  sgd,
  copy_weights,
};

// What a kernel works on: a norm's forward, its backward, a norm and the pool after it, a pool, another layer, or what
// ends a step.
enum class KernelGroup { norm, norm_backward, norm_pool, pool, layer, step };

// What a kernel's results depend on, and so what of them is checked: on a row each; some on all rows of a channel, over
// which the kernel sums; or on every item, which also stands for kernels so small that all of them is checked.
enum class Reach { row, channel, all };

struct KernelTraits {
  Kernel kernel;
  const char* name;  // the enumerator's
  KernelGroup group;
  Reach reach = Reach::row;
};
const KernelTraits& traits_of(Kernel kernel);

// Returns all kernels, in the order of the enumerators.
std::span<const Kernel> all_kernels();
// Returns the enumerator's name.
std::string to_string(Kernel kernel);

// How a step calls a kernel. Pointers are left out, because each call is timed in separate memory.
struct KernelCall {
  Kernel kernel = Kernel::statistics;
  FloatType type = FloatType::f32;
  std::int64_t items = 1;  // rows; of pools and dropout, images; of flat arrays, elements
  int channels = 1;
  // The distances between rows, in elements, of the inputs and outputs of a node, and of the residual it adds. 0 means
  // that rows follow one another.
  int in_ld = 0, out_ld = 0, residual_ld = 0;
  Activation activation = Activation::none;
  kernels::PoolShape pool{};       // also the image of dropout
  int outputs = 0;                 // of the loss, without padding
  bool inverse_deviation = false;  // statistics and moments: whether they write it too
};

// Returns the shape for people, e.g. "802816x64 relu f16": everything about the call except for the kernel. It begins
// with rows x channels or images x channels. "/N" after in, out or residual: these rows are N elements apart.
// "with 1/deviation": it also writes the value of the norm that a data gradient reads.
std::string shape_text(const KernelCall& call);

// Whether two calls do the same work.
inline bool same(const KernelCall& a, const KernelCall& b) {
  return a.kernel == b.kernel && shape_text(a) == shape_text(b);
}

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

// The tensors of a call. The bytes that it must move, its memory, its input values and its checks follow from these.
std::vector<KernelOperand> operands(const KernelCall& call);

// Returns the bytes that the kernel must read and write, each element once for each. These kernels move more than
// another design would, in bytes per element of T (2 or 4 bytes):
// - gradient sums: 2T, with a residual 4T or, with two gradients, 5T; inside the data gradient that writes g (cuDNN,
//   fp16), 0
// - max pool backward, alone or with a norm: 0.25 per input for the winner; a place needs 4 bits, so 0.125
// - the sum of two gradients: 3T; inside the kernel that reads them, 0
// - the copy of a packed output into its dense block: 2T; if a fused convolution could write there, 0
// - bias and activation: 2T, inside the product 0; their backward: 3T, with a bit mask 2T + 1/8
std::int64_t bytes_moved(const KernelCall& call);

}  // namespace chexbench::engine::cuda

// A call of one of the engine's own kernels: its computation and its shape. Plain data, so that a list of calls can be
// made and tested without a device.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/pool.hpp"
#include "engine/cuda/program/program.hpp"
#include "engine/cuda/program/residual_join.hpp"
#include "model/graph.hpp"
#include "spec/trial_spec.hpp"

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
// ends a step. Kernels of a group have their tensors in common, and are told apart by one switch in each file.
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

// Returns the shape for people, e.g. "802816x64 relu f16": everything about the call except for the kernel.
std::string shape_text(const KernelCall& call);

// Whether two calls do the same work.
inline bool same(const KernelCall& a, const KernelCall& b) {
  return a.kernel == b.kernel && shape_text(a) == shape_text(b);
}

// The parts of neighbouring norms that convolutions compute in a step, as far as the program decides it; they determine
// the kernels that the engine leaves out or launches in another way.

// The kind of step. With `fused`, training.fused is true and every fused plan that the engine knows for the precision
// is taken; without, it is false, so that all passes are separate.
struct StepKind {
  int images = 0;
  spec::Precision precision = spec::Precision::f32;
  bool fused = false;
};

// Returns the program of a training step of that kind, with dropout.
// @throws DeviceError for a network that the engine cannot compute
Program step_program(const model::Graph& graph, const StepKind& kind);

// Keeps references to the graph and the program, which is step_program()'s. Immutable, thread-safe.
class FusedParts {
 public:
  // @throws DeviceError if the engine cannot compute backward
  FusedParts(const model::Graph& graph, const Program& program, const StepKind& kind);

  // Whether a convolution writes the sums from which statistics node i computes mean and variance.
  bool has_output_sums(int i) const;
  // Whether statistics node i does the remaining work of the norm after it, in the same launch.
  bool writes_affine(int i) const;
  // Whether a data gradient reads the inverse deviation that statistics node i writes.
  bool has_inverse_deviation(int i) const { return inverse_deviations_[static_cast<std::size_t>(i)]; }
  // Whether a convolution computes norm i while it reads its input, alone or in a join.
  bool is_left_out(int norm) const;
  // Whether a data gradient computes the sums of norm i that have no join.
  bool has_gradient_sums(int norm) const { return is_taken(norm, ConvPattern::data_gradient_norm); }
  // The joins that data gradients compute, for backward_order().
  const std::vector<ResidualJoin>& joins() const { return joins_; }

 private:
  const Node& node(int i) const { return program_.nodes[static_cast<std::size_t>(i)]; }
  bool fuses(const Node& conv, ConvPattern pattern) const;
  bool takes(int i, ConvPattern pattern) const;
  bool is_taken(int norm, ConvPattern pattern) const;
  // Whether a join is computed by `pattern`.
  TakesJoin where(ConvPattern pattern) const;
  void mark_statistics_of(int norm);

  const model::Graph& graph_;
  const Program& program_;
  const StepKind kind_;
  const std::vector<int> norms_;  // that each node may compute
  const std::vector<ResidualJoin> joins_, forward_joins_;
  std::vector<bool> inverse_deviations_;
};

}  // namespace chexbench::engine::cuda

#include "engine/cuda/sweep/operands.hpp"

#include "engine/cuda/kernels/step_scalars.hpp"

namespace chexbench::engine::cuda {
namespace {

// Backward recomputes whether norm(x) passed the activation, and the device's 1 / sqrt differs from the host's in the
// last bit. So no x is near the value at which it begins to pass: x is an odd multiple of 1/64, the mean is an even
// one, and the bias of those norms is small.
constexpr float kGrid = 1.0f / 32;
constexpr Values kX{.center = 0.5f, .width = 1, .step = kGrid, .offset = kGrid / 2};
constexpr Values kMean{.center = 0.3f, .width = 0.1f, .step = kGrid};
constexpr Values kAroundOne{.center = 1, .width = 0.5f};
constexpr Values kSmallBias{.center = 0, .width = 0.004f};
// Not around 0, or sums would consist of rounding errors.
constexpr Values kGradient{.center = 0.25f, .width = 1};
constexpr Values kOutput{.center = 0.2f, .width = 1};  // about two fifths are masked by a ReLU
constexpr Values kFactor{.center = 0.1f, .width = 0.5f};
constexpr Values kBinary{.center = 1, .width = 1, .step = 1};  // 0 or 1

Cell cell_of(FloatType type) {
  return type == FloatType::f32 ? Cell::f32 : type == FloatType::fp16 ? Cell::f16 : Cell::bf16;
}

// Any place of a window.
Values winners_of(const kernels::PoolShape& pool) {
  const float half = static_cast<float>(pool.kernel * pool.kernel) / 2;
  return {.center = half, .width = half};
}

class OperandList {
 public:
  explicit OperandList(const KernelCall& call) : call_(call) {}

  OperandList& matrix(const char* name, Access access, const Values& values, int ld = 0, int rows_per_item = 1) {
    return add(name, cell_of(call_.type), access, values, rows_per_item, call_.channels, ld);
  }
  OperandList& vector(const char* name, Access access, const Values& values = {}) {
    return add(name, Cell::f32, access, values, 0, call_.channels, 0);
  }
  OperandList& flat(const char* name, Cell cell, Access access, const Values& values = {}, int channels = 1) {
    return add(name, cell, access, values, 1, channels, channels);
  }
  OperandList& row(const char* name, Access access, const Values& values, int channels) {
    return add(name, Cell::f32, access, values, 0, channels, channels);
  }
  OperandList& winners(Access access, const Values& values, int rows_per_item) {
    return add("winners", Cell::u8, access, values, rows_per_item, call_.channels, 0);
  }
  OperandList& scalars(Access access) { return add("scalars", Cell::scalars, access, {}, 0, 1, 1); }
  OperandList& norm(const Values& bias) {
    return vector("mean", Access::read, kMean)
        .vector("variance", Access::read, kAroundOne)
        .vector("weight", Access::read, kAroundOne)
        .vector("bias", Access::read, bias);
  }
  OperandList& sums(Access factors) {
    return vector("weight_gradient", Access::write)
        .vector("bias_gradient", Access::write)
        .vector("b", factors, kFactor)
        .vector("c", factors, kFactor);
  }
  std::vector<KernelOperand> list() { return std::move(list_); }

 private:
  OperandList& add(const char* name, Cell cell, Access access, const Values& values, int rows_per_item, int channels,
                   int ld) {
    list_.push_back({name, cell, access, values, rows_per_item, channels, ld == 0 ? channels : ld});
    return *this;
  }

  const KernelCall& call_;
  std::vector<KernelOperand> list_;
};

// A norm with a pool. Its forward has a small bias, too: where the activation begins to pass, the last bit of 1 / sqrt
// would decide which value wins a window. Unequal x stay unequal in every type.
void add_norm_pool(const KernelCall& call, OperandList& list) {
  const Kernel kernel = call.kernel;
  const int pixels = call.pool.pixels(), outputs = call.pool.out_pixels();
  const bool forward = kernel == Kernel::norm_max_pool || kernel == Kernel::norm_average_pool;
  list.matrix("x", Access::read, kX, call.in_ld, pixels);
  if (forward) {
    list.matrix("y", Access::write, {}, call.out_ld, outputs);
  } else {
    list.matrix("gradient", Access::read, kGradient, call.out_ld, outputs);
  }
  list.norm(kSmallBias);
  switch (kernel) {
    case Kernel::norm_max_pool:
      list.winners(Access::write, {}, outputs);
      return;
    case Kernel::norm_average_pool:
      return;
    case Kernel::max_pooled_gradient_sums:
    case Kernel::max_pooled_gradient_apply:
      list.winners(Access::read, winners_of(call.pool), outputs);
      break;
    default:
      break;
  }
  if (kernel == Kernel::max_pooled_gradient_apply || kernel == Kernel::average_pooled_gradient_apply) {
    list.vector("b", Access::read, kFactor).vector("c", Access::read, kFactor);
    list.matrix("dx", Access::write, {}, call.in_ld, pixels);
    return;
  }
  if (kernel == Kernel::average_pooled_lazy_accumulate) list.matrix("total", Access::write, {}, call.in_ld, pixels);
  list.sums(Access::write);
}

// In place unless packed, as in Network::apply_lazy.
void add_lazy_apply(const KernelCall& call, OperandList& list) {
  const bool packed = call.kernel == Kernel::lazy_apply_packed;
  list.matrix("x", Access::read, kX, call.in_ld)
      .matrix("total", packed ? Access::read : Access::update, kGradient, call.in_ld)
      .vector("b", Access::read, kFactor)
      .vector("c", Access::read, kFactor);
  if (packed) list.matrix("dx", Access::write, {}, call.out_ld);
}

void add_norm_backward(const KernelCall& call, OperandList& list) {
  const Kernel kernel = call.kernel;
  if (kernel == Kernel::lazy_apply || kernel == Kernel::lazy_apply_packed) return add_lazy_apply(call, list);
  list.matrix("x", Access::read, kX, call.in_ld).matrix("gradient", Access::read, kGradient, call.out_ld);
  if (kernel == Kernel::gradient_sums_two || kernel == Kernel::gradient_sums_residual_two ||
      kernel == Kernel::gradient_apply_two)
    list.matrix("gradient2", Access::read, kGradient, call.out_ld);
  list.norm(kSmallBias);
  switch (kernel) {
    case Kernel::gradient_apply:
    case Kernel::gradient_apply_two:
    case Kernel::gradient_apply_masked:
      list.vector("b", Access::read, kFactor).vector("c", Access::read, kFactor);
      list.matrix("dx", Access::write, {}, call.in_ld);
      return;
    case Kernel::lazy_accumulate_first:
      list.matrix("total", Access::write, {}, call.in_ld).sums(Access::write);
      return;
    case Kernel::lazy_accumulate:
      list.matrix("total", Access::update, kGradient, call.in_ld).sums(Access::update);
      return;
    case Kernel::gradient_sums_residual:
    case Kernel::gradient_sums_residual_two:  // without an activation, the output is not read (Network::backward_norm)
      if (call.activation != Activation::none) list.matrix("output", Access::read, kOutput, call.out_ld);
      list.matrix("masked", Access::write, {}, call.residual_ld);
      break;
    default:
      break;
  }
  list.sums(Access::write);
}

void add_pool(const KernelCall& call, OperandList& list) {
  const int pixels = call.pool.pixels(), outputs = call.pool.out_pixels();
  switch (call.kernel) {
    case Kernel::max_pool_backward:
    case Kernel::average_pool_backward:
    case Kernel::global_average_backward:
    case Kernel::adaptive_average_backward:
      list.matrix("y", Access::read, kGradient, call.out_ld, outputs)
          .matrix("x", Access::write, {}, call.in_ld, pixels);
      break;
    default:
      list.matrix("x", Access::read, kX, call.in_ld, pixels).matrix("y", Access::write, {}, call.out_ld, outputs);
  }
  const bool backward = call.kernel == Kernel::max_pool_backward;
  if (!backward && call.kernel != Kernel::max_pool) return;
  list.winners(backward ? Access::read : Access::write, winners_of(call.pool), outputs);
}

void add_loss(const KernelCall& call, OperandList& list) {
  list.matrix("logits", Access::read, {.center = 0, .width = 4})
      .row("bias", Access::read, kFactor, call.outputs)
      .flat("targets", Cell::f32, Access::read, kBinary, call.outputs)
      .scalars(Access::read)
      .matrix("gradient", Access::write, {})
      .row("bias_gradient", Access::write, {}, call.outputs)
      .row("loss", Access::write, {}, 1)
      .flat("biased", Cell::f32, Access::write, {}, call.outputs);
}

void add_update(const KernelCall& call, OperandList& list) {
  const Cell cell = cell_of(call.type);
  const bool adam = call.kernel == Kernel::adam;
  list.scalars(Access::read)
      .flat("gradient", cell, Access::read, {.center = 25, .width = 100})
      .flat("weight", Cell::f32, Access::update, {.center = 0, .width = 0.1f})
      .flat("first", Cell::f32, Access::update, {.center = 0.01f, .width = 0.1f});
  if (adam) list.flat("second", Cell::f32, Access::update, {.center = 0.02f, .width = 0.015f});
  if (cell != Cell::f32) list.flat("copy", cell, Access::write);
}

// Moments, affine factors and running averages are flat arrays.
void add_norm(const KernelCall& call, OperandList& list) {
  const Cell cell = cell_of(call.type);
  const auto moments = [&] {
    list.flat("sum", Cell::f32, Access::read, kAroundOne)
        .flat("squares", Cell::f32, Access::read, {.center = 8, .width = 1})
        .flat("mean", Cell::f32, Access::write)
        .flat("variance", Cell::f32, Access::write);
    if (call.inverse_deviation) list.flat("inverse_deviation", Cell::f32, Access::write);
  };
  const auto affine = [&] {
    list.flat("weight", Cell::f32, Access::read, kAroundOne)
        .flat("bias", Cell::f32, Access::read, kFactor)
        .flat("scale", cell, Access::write)
        .flat("shift", cell, Access::write);
  };
  switch (call.kernel) {
    case Kernel::statistics:
      list.matrix("x", Access::read, kX, call.in_ld).vector("mean", Access::write).vector("variance", Access::write);
      if (call.inverse_deviation) list.vector("inverse_deviation", Access::write);
      return;
    case Kernel::moments:
      return moments();
    case Kernel::moments_and_affine:
      moments();
      return affine();
    case Kernel::running_update:
      list.flat("mean", Cell::f32, Access::read, kMean)
          .flat("variance", Cell::f32, Access::read, kAroundOne)
          .flat("source", Cell::index, Access::read)
          .flat("unbias", Cell::f32, Access::read, kAroundOne)
          .flat("running_mean", Cell::f32, Access::update, kMean)
          .flat("running_variance", Cell::f32, Access::update, kAroundOne);
      return;
    case Kernel::affine:
      list.flat("mean", Cell::f32, Access::read, kMean).flat("variance", Cell::f32, Access::read, kAroundOne);
      return affine();
    default:  // normalize
      list.matrix("x", Access::read, kX, call.in_ld).norm(kFactor).matrix("y", Access::write, {}, call.out_ld);
      if (call.kernel == Kernel::normalize_residual) list.matrix("residual", Access::read, kOutput, call.residual_ld);
  }
}

// Kernels that call a function for each element of flat arrays.
void add_step(const KernelCall& call, OperandList& list) {
  const Cell cell = cell_of(call.type);
  switch (call.kernel) {
    case Kernel::adam:
    case Kernel::sgd:
      return add_update(call, list);
    case Kernel::accumulate_first:
    case Kernel::accumulate:
      list.flat("gradient", cell, Access::read, kGradient);
      list.flat("sum", Cell::f32, call.kernel == Kernel::accumulate ? Access::update : Access::write, kGradient);
      return;
    case Kernel::average:
      list.flat("gradient", cell, Access::update, kGradient).flat("sum", Cell::f32, Access::read, kGradient);
      return;
    case Kernel::overflow_check:
      list.flat("gradient", cell, Access::read, kGradient).scalars(Access::update);
      return;
    case Kernel::copy_weights:
      list.flat("weight", Cell::f32, Access::read, kGradient).flat("copy", cell, Access::write);
      return;
    default:  // end_batch, set_learning_rate, decide
      list.scalars(Access::update);
  }
}

void add_upload(const KernelCall& call, OperandList& list) {
  constexpr Values kBytes{.center = 128, .width = 128};
  if (call.kernel == Kernel::upload_gray) {
    list.flat("images", Cell::u8, Access::read, kBytes);
  } else if (call.kernel == Kernel::upload_rgb) {
    list.flat("images", Cell::u8, Access::read, kBytes, 3);
  } else {
    list.flat("images", Cell::f32, Access::read, kGradient, 3);
  }
  list.matrix("to", Access::write, {});
}

void add_layer(const KernelCall& call, OperandList& list) {
  switch (call.kernel) {
    case Kernel::bias:
      list.matrix("x", Access::read, kX, call.in_ld).vector("bias", Access::read, kFactor);
      list.matrix("y", Access::write, {}, call.out_ld);
      return;
    case Kernel::bias_backward:
      if (call.activation != Activation::none) list.matrix("output", Access::read, kOutput, call.out_ld);
      list.matrix("gradient", Access::read, kGradient, call.out_ld).matrix("dx", Access::write, {}, call.in_ld);
      list.vector("bias_gradient", Access::write);
      return;
    case Kernel::dropout:
      list.matrix("from", Access::read, kGradient, call.in_ld, call.pool.pixels());
      list.matrix("to", Access::write, {}, call.out_ld, call.pool.pixels()).scalars(Access::read);
      return;
    case Kernel::add:
      list.matrix("from", Access::read, kGradient, call.in_ld).matrix("to", Access::update, kGradient, call.out_ld);
      return;
    case Kernel::copy:
      list.matrix("from", Access::read, kX, call.in_ld).matrix("to", Access::write, {}, call.out_ld);
      return;
    case Kernel::loss:
      return add_loss(call, list);
    default:
      add_upload(call, list);
  }
}

}  // namespace

std::vector<KernelOperand> operands(const KernelCall& call) {
  OperandList list(call);
  switch (traits_of(call.kernel).group) {
    case KernelGroup::norm:
      add_norm(call, list);
      break;
    case KernelGroup::norm_backward:
      add_norm_backward(call, list);
      break;
    case KernelGroup::norm_pool:
      add_norm_pool(call, list);
      break;
    case KernelGroup::pool:
      add_pool(call, list);
      break;
    case KernelGroup::layer:
      add_layer(call, list);
      break;
    case KernelGroup::step:
      add_step(call, list);
      break;
  }
  return list.list();
}

std::int64_t bytes_moved(const KernelCall& call) {
  std::int64_t bytes = 0;
  for (const KernelOperand& operand : operands(call)) {
    const std::int64_t once =
        operand.rows(call.items) * operand.channels * static_cast<std::int64_t>(bytes_of(operand.cell));
    bytes += operand.access == Access::update ? 2 * once : once;
  }
  return bytes;
}

std::size_t bytes_of(Cell cell) {
  switch (cell) {
    case Cell::f32:
    case Cell::index:
      return 4;
    case Cell::f16:
    case Cell::bf16:
      return 2;
    case Cell::u8:
      return 1;
    case Cell::scalars:
      return sizeof(kernels::StepScalars);
  }
  return 0;
}

}  // namespace chexbench::engine::cuda

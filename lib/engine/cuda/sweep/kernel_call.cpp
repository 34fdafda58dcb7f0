#include "engine/cuda/sweep/kernel_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/program/conv_fusions.hpp"

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

// How an operand lies in memory, as far as it is the same in all calls.
struct Form {
  enum class Rows { one, items, inputs, outputs };  // inputs and outputs: of each item's image, if there is one

  std::optional<Cell> cell;  // empty: the call's type
  Rows rows = Rows::items;
  int KernelCall::*channels = nullptr;  // null: `width`
  int KernelCall::*ld = nullptr;        // null: rows follow one another
  int width = 1;
};

constexpr Form kIn{{}, Form::Rows::inputs, &KernelCall::channels, &KernelCall::in_ld};
constexpr Form kOut{{}, Form::Rows::outputs, &KernelCall::channels, &KernelCall::out_ld};
constexpr Form kResidual{{}, Form::Rows::items, &KernelCall::channels, &KernelCall::residual_ld};
constexpr Form kPacked{{}, Form::Rows::items, &KernelCall::channels};
constexpr Form kWinners{Cell::u8, Form::Rows::outputs, &KernelCall::channels};
constexpr Form kByChannel{Cell::f32, Form::Rows::one, &KernelCall::channels};
constexpr Form kByOutput{Cell::f32, Form::Rows::one, &KernelCall::outputs};
constexpr Form kOutputs{Cell::f32, Form::Rows::items, &KernelCall::outputs};
constexpr Form kElements{}, kFloats{Cell::f32}, kIndices{Cell::index}, kBytes{Cell::u8};
constexpr Form kByteTriples{Cell::u8, Form::Rows::items, nullptr, nullptr, 3};
constexpr Form kFloatTriples{Cell::f32, Form::Rows::items, nullptr, nullptr, 3};
constexpr Form kOneFloat{Cell::f32, Form::Rows::one}, kScalars{Cell::scalars, Form::Rows::one};

struct Operand {
  const char* name;
  Form form;
  Access access = Access::write;
  Values values{};
  bool (*exists)(const KernelCall& call) = [](const KernelCall&) { return true; };
};
using Operands = std::vector<Operand>;

Operands operator+(Operands all, const Operands& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

struct Descriptor {
  KernelTraits traits;
  Operands operands;
};

// Without an activation, the output is not read (Network::backward_norm).
bool has_activation(const KernelCall& call) { return call.activation != Activation::none; }
bool has_inverse_deviation(const KernelCall& call) { return call.inverse_deviation; }
bool has_copy(const KernelCall& call) { return call.type != FloatType::f32; }

std::vector<Descriptor> make_descriptors() {
  constexpr auto kRead = Access::read, kWrite = Access::write, kUpdate = Access::update;
  constexpr auto kNorm = KernelGroup::norm, kBack = KernelGroup::norm_backward, kPooled = KernelGroup::norm_pool,
                 kPool = KernelGroup::pool, kLayer = KernelGroup::layer, kStep = KernelGroup::step;
  constexpr auto kRow = Reach::row, kChannel = Reach::channel, kAll = Reach::all;

  const Operand x{"x", kIn, kRead, kX}, y{"y", kOut}, gradient{"gradient", kOut, kRead, kGradient},
      gradient2{"gradient2", kOut, kRead, kGradient}, output{"output", kOut, kRead, kOutput, has_activation},
      residual{"residual", kResidual, kRead, kOutput}, masked{"masked", kResidual}, dx{"dx", kIn}, total{"total", kIn},
      more_total{"total", kIn, kUpdate, kGradient}, winners{"winners", kWinners},
      old_winners{"winners", kWinners, kRead}, scalars{"scalars", kScalars, kRead},
      new_scalars{"scalars", kScalars, kUpdate};
  const Operands statistics{{"mean", kByChannel, kRead, kMean}, {"variance", kByChannel, kRead, kAroundOne}};
  const Operands norm =
      statistics + Operands{{"weight", kByChannel, kRead, kAroundOne}, {"bias", kByChannel, kRead, kFactor}};
  // Where the activation begins to pass, the last bit of 1 / sqrt would decide what passes, and which value wins a
  // window. Unequal x stay unequal in every type.
  const Operands small_norm =
      statistics + Operands{{"weight", kByChannel, kRead, kAroundOne}, {"bias", kByChannel, kRead, kSmallBias}};
  const Operands factors{{"b", kByChannel, kRead, kFactor}, {"c", kByChannel, kRead, kFactor}};
  const Operands of_norm{{"weight_gradient", kByChannel}, {"bias_gradient", kByChannel}};
  const Operands sums = of_norm + Operands{{"b", kByChannel}, {"c", kByChannel}};
  const Operands more_sums =
      of_norm + Operands{{"b", kByChannel, kUpdate, kFactor}, {"c", kByChannel, kUpdate, kFactor}};
  const Operands moments{{"sum", kFloats, kRead, kAroundOne},
                         {"squares", kFloats, kRead, {.center = 8, .width = 1}},
                         {"mean", kFloats},
                         {"variance", kFloats},
                         {"inverse_deviation", kFloats, kWrite, {}, has_inverse_deviation}};
  const Operands affine{{"weight", kFloats, kRead, kAroundOne},
                        {"bias", kFloats, kRead, kFactor},
                        {"scale", kElements},
                        {"shift", kElements}};
  const Operands old_statistics{{"mean", kFloats, kRead, kMean}, {"variance", kFloats, kRead, kAroundOne}};
  const Operands backward = Operands{x, gradient} + small_norm;
  const Operands backward_two = Operands{x, gradient, gradient2} + small_norm;
  const Operands from_gradient{{"y", kOut, kRead, kGradient}, {"x", kIn}};
  const Operand to{"to", kPacked};
  const Values bytes{.center = 128, .width = 128};
  const Operands update{scalars,
                        {"gradient", kElements, kRead, {.center = 25, .width = 100}},
                        {"weight", kFloats, kUpdate, {.center = 0, .width = 0.1f}},
                        {"first", kFloats, kUpdate, {.center = 0.01f, .width = 0.1f}}};
  const Operand flat_gradient{"gradient", kElements, kRead, kGradient}, copy{"copy", kElements, kWrite, {}, has_copy};

  return {
      {{Kernel::statistics, "statistics", kNorm, kChannel},
       {x,
        {"mean", kByChannel},
        {"variance", kByChannel},
        {"inverse_deviation", kByChannel, kWrite, {}, has_inverse_deviation}}},
      {{Kernel::moments, "moments", kNorm, kAll}, moments},
      {{Kernel::running_update, "running_update", kNorm, kAll},
       old_statistics + Operands{{"source", kIndices, kRead},
                                 {"unbias", kFloats, kRead, kAroundOne},
                                 {"running_mean", kFloats, kUpdate, kMean},
                                 {"running_variance", kFloats, kUpdate, kAroundOne}}},
      {{Kernel::moments_and_affine, "moments_and_affine", kNorm, kAll}, moments + affine},
      {{Kernel::affine, "affine", kNorm, kAll}, old_statistics + affine},
      {{Kernel::normalize, "normalize", kNorm, kRow}, Operands{x} + norm + Operands{y}},
      {{Kernel::normalize_residual, "normalize_residual", kNorm, kRow}, Operands{x} + norm + Operands{y, residual}},

      {{Kernel::gradient_sums, "gradient_sums", kBack, kChannel}, backward + sums},
      {{Kernel::gradient_sums_two, "gradient_sums_two", kBack, kChannel}, backward_two + sums},
      {{Kernel::gradient_sums_residual, "gradient_sums_residual", kBack, kChannel},
       backward + Operands{output, masked} + sums},
      {{Kernel::gradient_sums_residual_two, "gradient_sums_residual_two", kBack, kChannel},
       backward_two + Operands{output, masked} + sums},
      {{Kernel::gradient_apply, "gradient_apply", kBack, kRow}, backward + factors + Operands{dx}},
      {{Kernel::gradient_apply_two, "gradient_apply_two", kBack, kRow}, backward_two + factors + Operands{dx}},
      {{Kernel::gradient_apply_masked, "gradient_apply_masked", kBack, kRow}, backward + factors + Operands{dx}},
      {{Kernel::lazy_accumulate_first, "lazy_accumulate_first", kBack, kChannel}, backward + Operands{total} + sums},
      {{Kernel::lazy_accumulate, "lazy_accumulate", kBack, kChannel}, backward + Operands{more_total} + more_sums},
      // In place unless packed, as in Network::apply_lazy.
      {{Kernel::lazy_apply, "lazy_apply", kBack, kRow}, Operands{x, more_total} + factors},
      {{Kernel::lazy_apply_packed, "lazy_apply_packed", kBack, kRow},
       Operands{x, {"total", kIn, kRead, kGradient}} + factors + Operands{{"dx", kOut}}},

      {{Kernel::norm_max_pool, "norm_max_pool", kPooled, kRow}, Operands{x, y} + small_norm + Operands{winners}},
      {{Kernel::norm_average_pool, "norm_average_pool", kPooled, kRow}, Operands{x, y} + small_norm},
      {{Kernel::max_pooled_gradient_sums, "max_pooled_gradient_sums", kPooled, kChannel},
       backward + Operands{old_winners} + sums},
      {{Kernel::average_pooled_gradient_sums, "average_pooled_gradient_sums", kPooled, kChannel}, backward + sums},
      {{Kernel::max_pooled_gradient_apply, "max_pooled_gradient_apply", kPooled, kRow},
       backward + Operands{old_winners} + factors + Operands{dx}},
      {{Kernel::average_pooled_gradient_apply, "average_pooled_gradient_apply", kPooled, kRow},
       backward + factors + Operands{dx}},
      {{Kernel::average_pooled_lazy_accumulate, "average_pooled_lazy_accumulate", kPooled, kChannel},
       backward + Operands{total} + sums},

      {{Kernel::max_pool, "max_pool", kPool, kRow}, {x, y, winners}},
      {{Kernel::max_pool_backward, "max_pool_backward", kPool, kRow}, from_gradient + Operands{old_winners}},
      {{Kernel::average_pool, "average_pool", kPool, kRow}, {x, y}},
      {{Kernel::average_pool_backward, "average_pool_backward", kPool, kRow}, from_gradient},
      {{Kernel::global_average, "global_average", kPool, kRow}, {x, y}},
      {{Kernel::global_average_backward, "global_average_backward", kPool, kRow}, from_gradient},
      {{Kernel::adaptive_average, "adaptive_average", kPool, kRow}, {x, y}},
      {{Kernel::adaptive_average_backward, "adaptive_average_backward", kPool, kRow}, from_gradient},

      {{Kernel::bias, "bias", kLayer, kRow}, {x, {"bias", kByChannel, kRead, kFactor}, y}},
      {{Kernel::bias_backward, "bias_backward", kLayer, kChannel},
       {output, gradient, dx, {"bias_gradient", kByChannel}}},
      {{Kernel::dropout, "dropout", kLayer, kAll}, {{"from", kIn, kRead, kGradient}, {"to", kOut}, scalars}},
      {{Kernel::add, "add", kLayer, kRow}, {{"from", kIn, kRead, kGradient}, {"to", kOut, kUpdate, kGradient}}},
      {{Kernel::copy, "copy", kLayer, kRow}, {{"from", kIn, kRead, kX}, {"to", kOut}}},
      {{Kernel::upload_gray, "upload_gray", kLayer, kRow}, {{"images", kBytes, kRead, bytes}, to}},
      {{Kernel::upload_color, "upload_color", kLayer, kRow}, {{"images", kFloatTriples, kRead, kGradient}, to}},
      {{Kernel::upload_rgb, "upload_rgb", kLayer, kRow}, {{"images", kByteTriples, kRead, bytes}, to}},
      {{Kernel::loss, "loss", kLayer, kAll},
       {{"logits", kPacked, kRead, {.center = 0, .width = 4}},
        {"bias", kByOutput, kRead, kFactor},
        {"targets", kOutputs, kRead, kBinary},
        scalars,
        {"gradient", kPacked},
        {"bias_gradient", kByOutput},
        {"loss", kOneFloat},
        {"biased", kOutputs}}},

      {{Kernel::accumulate_first, "accumulate_first", kStep, kRow}, {flat_gradient, {"sum", kFloats}}},
      {{Kernel::accumulate, "accumulate", kStep, kRow}, {flat_gradient, {"sum", kFloats, kUpdate, kGradient}}},
      {{Kernel::average, "average", kStep, kRow},
       {{"gradient", kElements, kUpdate, kGradient}, {"sum", kFloats, kRead, kGradient}}},
      {{Kernel::end_batch, "end_batch", kStep, kRow}, {new_scalars}},
      {{Kernel::overflow_check, "overflow_check", kStep, kRow}, {flat_gradient, new_scalars}},
      {{Kernel::set_learning_rate, "set_learning_rate", kStep, kRow}, {new_scalars}},
      {{Kernel::decide, "decide", kStep, kRow}, {new_scalars}},
      {{Kernel::adam, "adam", kStep, kRow},
       update + Operands{{"second", kFloats, kUpdate, {.center = 0.02f, .width = 0.015f}}, copy}},
      {{Kernel::sgd, "sgd", kStep, kRow}, update + Operands{copy}},
      {{Kernel::copy_weights, "copy_weights", kStep, kRow},
       {{"weight", kFloats, kRead, kGradient}, {"copy", kElements}}},
  };
}

const std::vector<Descriptor>& descriptors() {
  static const std::vector<Descriptor> all = make_descriptors();
  return all;
}

const Descriptor& descriptor(Kernel kernel) {
  return *std::ranges::find(descriptors(), kernel, [](const Descriptor& of) { return of.traits.kernel; });
}

Cell cell_of(FloatType type) {
  return type == FloatType::f32 ? Cell::f32 : type == FloatType::fp16 ? Cell::f16 : Cell::bf16;
}

// Any place of a window.
Values winners_of(const kernels::PoolShape& pool) {
  const float half = static_cast<float>(pool.kernel * pool.kernel) / 2;
  return {.center = half, .width = half};
}

// Returns how many rows each item has; 0 if there is one row in all.
int rows_per_item(const KernelCall& call, Form::Rows rows) {
  if (rows == Form::Rows::one) return 0;
  if (rows == Form::Rows::items || call.pool.height == 0) return 1;
  const bool outputs = rows == Form::Rows::outputs && call.pool.out_height > 0;  // dropout has inputs only
  return outputs ? call.pool.out_pixels() : call.pool.pixels();
}

std::string pool_text(const kernels::PoolShape& pool) {
  if (pool.height == 0) return {};
  std::string text = fmt::format(" of {}x{}", pool.height, pool.width);
  if (pool.out_height > 0) text += fmt::format(" to {}x{}", pool.out_height, pool.out_width);
  if (pool.kernel > 0) text += fmt::format(" k{} s{} p{}", pool.kernel, pool.stride, pool.padding);
  return text;
}

}  // namespace

std::span<const Kernel> all_kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> kernels;
    for (const Descriptor& of : descriptors()) kernels.push_back(of.traits.kernel);
    return kernels;
  }();
  return all;
}

const KernelTraits& traits_of(Kernel kernel) { return descriptor(kernel).traits; }

std::string to_string(Kernel kernel) { return traits_of(kernel).name; }

std::string shape_text(const KernelCall& call) {
  constexpr const char* kActivations[] = {"", " relu", " relu6"};
  constexpr const char* kTypes[] = {" f32", " f16", " bf16"};
  std::string text = fmt::format("{}x{}", call.items, call.channels) + pool_text(call.pool);
  const auto add_ld = [&](const char* of, int ld) {
    if (ld != 0 && ld != call.channels) text += fmt::format(" {} /{}", of, ld);
  };
  add_ld("in", call.in_ld);
  add_ld("out", call.out_ld);
  add_ld("residual", call.residual_ld);
  if (call.outputs > 0) text += fmt::format(" outputs {}", call.outputs);
  if (call.inverse_deviation) text += " with 1/deviation";
  return text + kActivations[static_cast<int>(call.activation)] + kTypes[static_cast<int>(call.type)];
}

std::vector<KernelOperand> operands(const KernelCall& call) {
  std::vector<KernelOperand> list;
  for (const Operand& operand : descriptor(call.kernel).operands) {
    if (!operand.exists(call)) continue;
    const Form& form = operand.form;
    const int channels = form.channels == nullptr ? form.width : call.*form.channels;
    const int ld = form.ld == nullptr ? 0 : call.*form.ld;
    list.push_back(
        {.name = operand.name,
         .cell = form.cell.value_or(cell_of(call.type)),
         .access = operand.access,
         .values = form.rows == Form::Rows::outputs && form.cell == Cell::u8 ? winners_of(call.pool) : operand.values,
         .rows_per_item = rows_per_item(call, form.rows),
         .channels = channels,
         .ld = ld == 0 ? channels : ld});
  }
  return list;
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

#include <algorithm>

#include "engine/cuda/kernels/average_pool.hpp"
#include "engine/cuda/kernels/elementwise.hpp"
#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/kernels/loss.hpp"
#include "engine/cuda/kernels/norm_backward.hpp"
#include "engine/cuda/kernels/norm_forward.hpp"
#include "engine/cuda/kernels/norm_pool.hpp"
#include "engine/cuda/kernels/optimizer.hpp"
#include "engine/cuda/sweep/launch_kernel.hpp"

namespace chexbench::engine::cuda {
namespace {

using kernels::Rows;

constexpr int kRowsAtOnce = 512;  // few enough for an f32 sum to lose no digit that matters

// Runs an elementwise operation on one channel after the other.
template <typename Op>
void each_row(const Op& op, int rows, int channels) {
  for (int channel = 0; channel < channels; ++channel) {
    typename Op::Worker worker(op, channel);
    for (int row = 0; row < rows; ++row) worker.use(row, worker.load(row));
  }
}

// Runs an operation that sums over the rows, and finishes its sums.
template <typename Op, typename Finish>
void sum_rows(const Op& op, const Finish& finish, int rows, int channels) {
  for (int channel = 0; channel < channels; ++channel) {
    kernels::DoublePair sum;
    for (int first = 0; first < rows; first += kRowsAtOnce) {
      const int count = std::min(kRowsAtOnce, rows - first);
      typename Op::Worker worker(op, kernels::Lane{channel, first, true});
      for (int row = first; row < first + count; ++row) worker.use(row, worker.load(row));
      const kernels::DoublePair term = Finish::term(worker.result(count).at[0], count);
      sum.first += term.first;
      sum.second += term.second;
    }
    finish.write(channel, sum);
  }
}

template <typename Op>
void each_call(const Op& op, std::int64_t calls) {
  for (std::int64_t i = 0; i < calls; ++i) op(i);
}

// One call, with elements of type T.
template <typename T>
class HostRun {
 public:
  HostRun(const KernelCall& call, const KernelMemory& memory)
      : call_(call),
        memory_(memory),
        rows_(static_cast<int>(call.items)),
        channels_(call.channels),
        clamp_(clamp_of(call.activation)) {}

  void run() const {
    switch (traits_of(call_.kernel).group) {
      case KernelGroup::norm:
        return run_norm();
      case KernelGroup::norm_backward:
        return run_norm_backward();
      case KernelGroup::norm_pool:
        return run_norm_pool();
      case KernelGroup::pool:
        return run_pool();
      case KernelGroup::layer:
        return run_layer();
      case KernelGroup::step:
        return run_step();
    }
  }

 private:
  Rows<T> rows(const char* name) const {
    const kernels::Matrix matrix = memory_.matrix(name);
    return {static_cast<T*>(matrix.data), matrix.ld};
  }
  T* array(const char* name) const { return memory_.array<T>(name); }
  float* floats(const char* name) const { return memory_.array<float>(name); }

  void run_norm() const {
    switch (call_.kernel) {
      case Kernel::statistics:
        return sum_rows(kernels::Statistics<T, 1>{rows("x")}, memory_.statistics(rows_), rows_, channels_);
      case Kernel::moments:
        return each_call(memory_.moments(), rows_);
      case Kernel::moments_and_affine:
        return each_call(kernels::MomentsAndAffine<T>{memory_.moments(), affine()}, rows_);
      case Kernel::running_update:
        return each_call(kernels::RunningUpdate{floats("mean"), floats("variance"), memory_.array<int>("source"),
                                                floats("unbias"), floats("running_mean"), floats("running_variance")},
                         rows_);
      case Kernel::affine:
        return each_call(affine(), rows_);
      case Kernel::normalize:
        return each_row(kernels::Normalize<T, 1, false>{rows("x"), {}, rows("y"), memory_.norm(), clamp_}, rows_,
                        channels_);
      default:
        return each_row(kernels::Normalize<T, 1, true>{rows("x"), rows("residual"), rows("y"), memory_.norm(), clamp_},
                        rows_, channels_);
    }
  }

  kernels::WriteAffine<T> affine() const { return {memory_.norm(), array("scale"), array("shift")}; }

  kernels::NormGradient<T> norm_gradient() const {
    const bool has_output = memory_.matrix("output").exists();
    return {rows("x"), rows(has_output ? "output" : "x"), rows("gradient"), rows("gradient2"), memory_.norm(), clamp_};
  }

  // Sums over the norm's rows; each row of `op` may contain several of them.
  void sum_gradients(const auto& op, int norm_rows, int op_rows) const {
    const kernels::GradientFinish finish{.norm = memory_.norm(),
                                         .count = static_cast<double>(norm_rows),
                                         .add = call_.kernel == Kernel::lazy_accumulate,
                                         .weight_gradient = floats("weight_gradient"),
                                         .bias_gradient = floats("bias_gradient"),
                                         .b = floats("b"),
                                         .c = floats("c")};
    sum_rows(op, finish, op_rows, channels_);
  }
  void sum_gradients(const auto& op) const { sum_gradients(op, rows_, rows_); }

  template <bool kMasked, bool kTwo>
  void apply_gradient() const {
    each_row(kernels::GradientApply<T, 1, kMasked, kTwo>{norm_gradient(), floats("b"), floats("c"), rows("dx")}, rows_,
             channels_);
  }

  void run_norm_backward() const {
    const kernels::NormGradient<T> from = norm_gradient();
    switch (call_.kernel) {
      case Kernel::gradient_sums:
        return sum_gradients(kernels::GradientSums<T, 1, false, false>{from, {}});
      case Kernel::gradient_sums_two:
        return sum_gradients(kernels::GradientSums<T, 1, false, true>{from, {}});
      case Kernel::gradient_sums_residual:
        return sum_gradients(kernels::GradientSums<T, 1, true, false>{from, rows("masked")});
      case Kernel::gradient_sums_residual_two:
        return sum_gradients(kernels::GradientSums<T, 1, true, true>{from, rows("masked")});
      case Kernel::gradient_apply:
        return apply_gradient<false, false>();
      case Kernel::gradient_apply_two:
        return apply_gradient<false, true>();
      case Kernel::gradient_apply_masked:
        return apply_gradient<true, false>();
      case Kernel::lazy_accumulate_first:
        return sum_gradients(kernels::LazyAccumulate<T, T, 1, true>{from, rows("total")});
      case Kernel::lazy_accumulate:
        return sum_gradients(kernels::LazyAccumulate<T, T, 1, false>{from, rows("total")});
      default:
        return each_row(kernels::LazyApply<T, T, 1>{rows("x"), rows("total"), floats("b"), floats("c"),
                                                    rows(call_.kernel == Kernel::lazy_apply ? "total" : "dx")},
                        rows_, channels_);
    }
  }

  template <bool kMax, typename Pass>
  kernels::OverPatches<Pass, T, 1, kMax> over_patches(const Pass& pass) const {
    return {pass, rows("gradient"), winners(), {call_.pool}};
  }
  void sum_over_patches(const auto& op) const { sum_gradients(op, rows_ * call_.pool.pixels(), op.rows(rows_)); }
  template <bool kMax>
  void apply_over_patches() const {
    const auto op = over_patches<kMax>(
        kernels::GradientApply<T, 1, false, false>{norm_gradient(), floats("b"), floats("c"), rows("dx")});
    each_row(op, op.rows(rows_), channels_);
  }

  void run_norm_pool() const {
    const kernels::PoolShape& shape = call_.pool;
    const int outputs = rows_ * shape.out_pixels();
    const kernels::NormedValues<T, 1> normed{memory_.norm(), clamp_};
    const kernels::GradientSums<T, 1, false, false> sums{norm_gradient(), {}};
    switch (call_.kernel) {
      case Kernel::norm_max_pool:
        return each_row(
            kernels::MaxPool<T, 1, 3, kernels::NormedValues<T, 1>>{rows("x"), rows("y"), winners(), shape, normed},
            outputs, channels_);
      case Kernel::norm_average_pool:
        return each_row(kernels::AveragePool<T, 1, 2, kernels::NormedValues<T, 1>>{rows("x"), rows("y"), shape, normed},
                        outputs, channels_);
      case Kernel::max_pooled_gradient_sums:
        return sum_over_patches(over_patches<true>(sums));
      case Kernel::average_pooled_gradient_sums:
        return sum_over_patches(over_patches<false>(sums));
      case Kernel::max_pooled_gradient_apply:
        return apply_over_patches<true>();
      case Kernel::average_pooled_gradient_apply:
        return apply_over_patches<false>();
      default:
        return sum_over_patches(
            over_patches<false>(kernels::LazyAccumulate<T, T, 1, true>{norm_gradient(), rows("total")}));
    }
  }

  template <int K>
  void run_window() const {
    const kernels::PoolShape& shape = call_.pool;
    const int outputs = rows_ * shape.out_pixels();
    if (call_.kernel == Kernel::average_pool)
      return each_row(kernels::AveragePool<T, 1, K>{rows("x"), rows("y"), shape}, outputs, channels_);
    each_row(kernels::MaxPool<T, 1, K>{rows("x"), rows("y"), winners(), shape}, outputs, channels_);
  }
  Rows<std::uint8_t> winners() const {
    const kernels::Matrix matrix = memory_.matrix("winners");
    return {static_cast<std::uint8_t*>(matrix.data), matrix.ld};
  }

  void run_pool() const {
    const kernels::PoolShape& shape = call_.pool;
    const int inputs = rows_ * shape.pixels(), outputs = rows_ * shape.out_pixels();
    switch (call_.kernel) {
      case Kernel::max_pool:
      case Kernel::average_pool:
        return shape.kernel == 3 ? run_window<3>() : run_window<2>();
      case Kernel::max_pool_backward:
        return each_row(kernels::MaxPoolBackward<T, 1>{rows("y"), winners(), rows("x"), shape}, inputs, channels_);
      case Kernel::average_pool_backward:
        return each_row(kernels::AveragePoolBackward<T, 1>{rows("y"), rows("x"), shape}, inputs, channels_);
      case Kernel::global_average:
        return each_row(kernels::GlobalAverage<T, 1>{rows("x"), rows("y"), shape.pixels()}, rows_, channels_);
      case Kernel::global_average_backward:
        return each_row(kernels::GlobalAverageBackward<T, 1>{rows("y"), rows("x"), shape.pixels()}, inputs, channels_);
      case Kernel::adaptive_average:
        return each_row(kernels::AdaptiveAverage<T, 1>{rows("x"), rows("y"), shape}, outputs, channels_);
      default:
        return each_row(kernels::AdaptiveAverageBackward<T, 1>{rows("y"), rows("x"), shape}, inputs, channels_);
    }
  }

  void run_layer() const {
    switch (call_.kernel) {
      case Kernel::bias:
        return each_row(kernels::Bias<T, 1>{rows("x"), rows("y"), floats("bias"), clamp_}, rows_, channels_);
      case Kernel::bias_backward:
        return run_bias_backward();
      case Kernel::dropout: {
        const int pixels = call_.pool.pixels();
        return each_row(kernels::Dropout<T, 1>{rows("from"), rows("to"), memory_.scalars(), kDropoutSeed, kDropoutLayer,
                                               kDropRate, pixels},
                        rows_ * pixels, channels_);
      }
      case Kernel::add:
        return each_row(kernels::Add<T, 1>{rows("from"), rows("to")}, rows_, channels_);
      case Kernel::copy:
        return each_row(kernels::Copy<T, 1>{rows("from"), rows("to")}, rows_, channels_);
      case Kernel::upload_gray:
        return upload(kernels::GraySource{memory_.array<std::uint8_t>("images"), kImageNorm});
      case Kernel::upload_color:
        return upload(kernels::ColorSource{floats("images")});
      case Kernel::upload_rgb:
        return upload(kernels::RgbSource{memory_.array<std::uint8_t>("images"), kImageNorm});
      default:
        return run_loss();
    }
  }

  void run_bias_backward() const {
    const kernels::BiasFinish finish{floats("bias_gradient")};
    if (memory_.matrix("output").exists()) {
      sum_rows(kernels::BiasBackward<T, 1, true>{rows("output"), rows("gradient"), rows("dx"), clamp_}, finish, rows_,
               channels_);
    } else {
      sum_rows(kernels::BiasBackward<T, 1, false>{{}, rows("gradient"), rows("dx"), clamp_}, finish, rows_, channels_);
    }
  }

  template <typename Source>
  void upload(const Source& source) const {
    using Op = kernels::Upload<Source, T, 4>;
    each_call(Op{source, array("to"), call_.items}, Op::calls(call_.items));
  }

  void run_loss() const {
    const float scale = memory_.scalars()->loss_scale / (static_cast<float>(rows_) * static_cast<float>(call_.outputs));
    const T* const logits = array("logits");
    std::fill_n(floats("bias_gradient"), call_.outputs, 0.0f);
    double sum = 0;
    for (int i = 0; i < rows_ * channels_; ++i) {
      const int image = i / channels_, output = i % channels_;
      T& gradient = array("gradient")[i];
      gradient = kernels::Element<T>::narrow(0);
      if (output >= call_.outputs) continue;
      const int known = image * call_.outputs + output;
      const float logit = kernels::Element<T>::widen(logits[i]) + floats("bias")[output];
      floats("biased")[known] = logit;
      sum += static_cast<double>(kernels::cross_entropy(logit, floats("targets")[known]));
      gradient = kernels::Element<T>::narrow(kernels::cross_entropy_gradient(logit, floats("targets")[known]) * scale);
      floats("bias_gradient")[output] += kernels::Element<T>::widen(gradient);
    }
    *floats("loss") = static_cast<float>(sum / (static_cast<double>(rows_) * call_.outputs));
  }

  void run_step() const {
    switch (call_.kernel) {
      case Kernel::accumulate_first:
      case Kernel::accumulate:
        return each_call(
            kernels::AddToSum<T>{array("gradient"), floats("sum"), call_.kernel == Kernel::accumulate_first},
            call_.items);
      case Kernel::average:
        return each_call(kernels::TakeMean<T>{array("gradient"), floats("sum"), 1.0f / kBatchesOfStep}, call_.items);
      case Kernel::end_batch:
        return kernels::EndBatch{memory_.scalars()}(0);
      case Kernel::overflow_check: {
        using Op = kernels::OverflowCheck<T>;
        return each_call(Op{array("gradient"), call_.items, &memory_.scalars()->overflow}, Op::calls(call_.items));
      }
      case Kernel::set_learning_rate:
        return kernels::SetLearningRate{memory_.scalars(), kLearningRate}(0);
      case Kernel::decide:
        return kernels::Decide{memory_.scalars(), kStepRules}(0);
      case Kernel::adam:
      case Kernel::sgd:
        return update();
      default:
        return each_call(kernels::CopyWeights<T>{floats("weight"), array("copy")}, call_.items);
    }
  }

  void update() const {
    kernels::Update<T, T> update;
    update.scalars = memory_.scalars();
    update.gradient = array("gradient");
    update.first = floats("first");
    update.second = floats("second");
    update.weight = floats("weight");
    update.copy = array("copy");
    update.beta1 = kStepRules.beta1;
    update.beta2 = kStepRules.beta2;
    update.epsilon = kAdamEpsilon;
    update.momentum = kMomentum;
    update.is_adam = call_.kernel == Kernel::adam;
    update.count = call_.items;
    each_call(update, kernels::Update<T, T>::calls(call_.items));
  }

  const KernelCall& call_;
  const KernelMemory& memory_;
  const int rows_, channels_;
  const kernels::Clamp clamp_;
};

}  // namespace

void run_on_host(const KernelCall& call, const KernelMemory& memory) {
  switch (call.type) {
    case FloatType::f32:
      return HostRun<float>(call, memory).run();
    case FloatType::fp16:
      return HostRun<kernels::Half>(call, memory).run();
    case FloatType::bf16:
      return HostRun<kernels::BFloat16>(call, memory).run();
  }
}

}  // namespace chexbench::engine::cuda

// Updates all weights of the flat array at once. Formulas as in PyTorch's torch.optim.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/onednn/parameter_store.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::onednn {

// Adam (Kingma and Ba, ICLR 2015; betas 0.9 and 0.999, epsilon 1e-8), AdamW (Loshchilov and Hutter, ICLR 2019) or SGD
// with momentum, according to the spec; with weight decay, clipping (torch.nn.utils.clip_grad_norm_) and a moving
// average of the weights (torch.optim.swa_utils.get_ema_multi_avg_fn) if enabled there. Not thread-safe; update()
// computes on the threads of parallel.hpp, and its results do not depend on their number.
class Optimizer {
 public:
  // For `parameters` weights, padding included (ParameterStore::size()). Moments are zero.
  // @throws std::bad_alloc if there is no memory for them
  Optimizer(const spec::TrainingSpec& training, Isa isa, std::size_t parameters);

  // Applies one step. Both spans have as many elements as the optimizer was constructed for. `gradients` are only read:
  // clipping scales their use here.
  void update(std::span<float> weights, std::span<const float> gradients);
  // Starts over: sets the moments to zero, the step count to 0, and the learning rate to the spec's.
  void restart();
  // Sets the learning rate of all later steps, until restart().
  void set_learning_rate(double rate) { rate_ = rate; }
  // Continues as if `steps` steps had been done. The caller must write the moments itself.
  void resume(std::int64_t steps) { step_ = steps; }
  // Steps done since construction or restart(), and before a resume().
  std::int64_t steps() const { return step_; }

  // One moment of all weights, in the order of the flat arrays, under PyTorch's name ("exp_avg"). The values belong to
  // the optimizer, and may be written.
  struct Moments {
    const char* name;
    std::span<float> values;
  };
  // Adam has exp_avg and exp_avg_sq, SGD has momentum_buffer; with a moving average of the weights, it is "ema".
  std::vector<Moments> moments() const;
  // Exchanges `weights` with their moving average; a second call exchanges them back. Does nothing if there is none, or
  // before the first step.
  void swap_average(std::span<float> weights);
  std::size_t held_bytes() const { return (first_.size() + second_.size() + average_.size()) * sizeof(float); }

 private:
  const spec::TrainingSpec training_;
  const UpdateKernels kernels_;
  float clipping(std::span<const float> gradients) const;

  double rate_;
  std::int64_t step_ = 0;
  FloatArray first_;    // Adam: mean of gradients; SGD: velocity
  FloatArray second_;   // Adam: mean of squared gradients
  FloatArray average_;  // moving average of the weights; empty without one
};

}  // namespace chexbench::engine::onednn

// The update of all weights at once. Formulas as in PyTorch's torch.optim.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/onednn/parameter_store.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine {

// Adam (Kingma and Ba, ICLR 2015; beta 0.9 and 0.999, epsilon 1e-8) or SGD with momentum. Not thread-safe.
class Optimizer {
 public:
  Optimizer(const spec::TrainingSpec& training, Isa isa, std::size_t parameters);

  // Applies one step. Both spans hold as many elements as the optimizer was made for.
  void update(std::span<float> weights, std::span<const float> gradients);
  // Moments zero, step 0, the spec's learning rate.
  void restart();
  // Of the steps from now on.
  void set_learning_rate(double rate) { rate_ = rate; }
  // Goes on as if so many steps were done; the moments are the caller's to write.
  void resume(std::int64_t steps) { step_ = steps; }
  std::int64_t steps() const { return step_; }

  // What is remembered of each element of the flat arrays, by PyTorch's name ("exp_avg").
  struct Moments {
    const char* name;
    std::span<float> values;
  };
  std::vector<Moments> moments() const;
  std::size_t held_bytes() const { return (first_.size() + second_.size()) * sizeof(float); }

 private:
  const spec::TrainingSpec training_;
  const UpdateKernels kernels_;
  double rate_;
  std::int64_t step_ = 0;
  FloatArray first_;   // mean of gradients, or momentum
  FloatArray second_;  // Adam: mean of squared gradients
};

}  // namespace chexbench::engine

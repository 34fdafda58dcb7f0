// Runs calls: on the device with the launchers, and on the host with the functions of the kernels' headers. Both get
// the places of a call's operands, and the arguments that are the same in every call.
#pragma once

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/norm_forward.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/kernels/upload.hpp"
#include "engine/cuda/program/program.hpp"
#include "engine/cuda/sweep/kernel_call.hpp"

namespace chexbench::engine::cuda {

// The operands' memory, by the names of operands(). Does not own it. On the device each operand has a separate
// allocation, so it is aligned to 16 bytes like the engine's, and the launchers choose the same vectors.
class KernelMemory {
 public:
  void add(std::string_view name, const kernels::Matrix& matrix) { places_.emplace_back(name, matrix); }
  // Returns a null matrix if the call has no such operand.
  kernels::Matrix matrix(std::string_view name) const {
    for (const auto& [known, matrix] : places_) {
      if (known == name) return matrix;
    }
    return {};
  }
  template <typename T>
  T* array(std::string_view name) const {
    return static_cast<T*>(matrix(name).data);
  }
  kernels::StepScalars* scalars() const { return array<kernels::StepScalars>("scalars"); }
  kernels::NormParameters norm() const {
    return {array<float>("mean"), array<float>("variance"), array<float>("weight"), array<float>("bias"), kEpsilon};
  }
  // Of a moments call, whose sums are those of one row.
  kernels::MomentsOfSums moments() const { return {array<float>("sum"), array<float>("squares"), statistics(1)}; }
  kernels::StatisticsFinish statistics(int rows) const {
    return {static_cast<double>(rows), array<float>("mean"), array<float>("variance"),
            array<float>("inverse_deviation"), kEpsilon};
  }

  static constexpr float kEpsilon = 1e-5f;

 private:
  std::vector<std::pair<std::string_view, kernels::Matrix>> places_;
};

inline constexpr kernels::Normalization kImageNorm{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
inline constexpr kernels::StepRules kStepRules{.dynamic_scale = true};
inline constexpr float kAdamEpsilon = 1e-8f, kMomentum = 0.9f, kLearningRate = 0.02f;
inline constexpr std::uint64_t kDropoutSeed = 7;
inline constexpr int kDropoutLayer = 3;
inline constexpr double kDropRate = 0.5;
inline constexpr int kBatchesOfStep = 2;  // of launch_average

inline kernels::Clamp clamp_of(Activation activation) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (activation == Activation::none) return {-kInfinity, kInfinity};
  return {0, activation == Activation::relu ? kInfinity : 6};
}

// Returns the scalars in the middle of a training.
inline kernels::StepScalars scalars_of_a_step() {
  kernels::StepScalars scalars;
  scalars.loss_scale = 1024;
  scalars.learning_rate = 1e-3f;
  for (int i = 0; i < 3; ++i) kernels::decide(scalars, kStepRules);
  return scalars;
}

// Queues the call on the stream. `memory` is device memory; `scratch` is reduction_scratch_bytes() of it.
// @throws DeviceError if CUDA refuses the launch
void launch_kernel(const KernelCall& call, const KernelMemory& memory, void* scratch, kernels::Stream stream);

// Computes the call on the host, element by element, with sums in double over blocks of rows. `memory` is host memory
// whose half types are those of core/half.hpp.
void run_on_host(const KernelCall& call, const KernelMemory& memory);

}  // namespace chexbench::engine::cuda

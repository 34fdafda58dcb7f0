// The ends of a step on the device: upload.hpp, loss.hpp, overflow.hpp, step_scalars.hpp, accumulate.hpp,
// optimizer.hpp.
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/kernels/upload.hpp"

namespace chexbench::engine::cuda::kernels {

// To NHWC of `channels` = 4 or 8, the ones behind the third zero. `to` begins at a multiple of 16 bytes.
struct UploadCall {
  ElementType type = ElementType::f32;
  int channels = 4;
  std::int64_t pixels = 0;  // of all images
  void* to = nullptr;
};
void launch_upload_gray(const UploadCall& call, const std::uint8_t* gray, const Normalization& norm, Stream stream);
void launch_upload_color(const UploadCall& call, const float* values, Stream stream);

// *loss, f32, its gradient times scalars->loss_scale, and that of the last layer's bias; logits (without the bias) and
// gradient are [batch][ld], targets and biased (logits with it, f32) [batch][outputs].
struct LossCall {
  ElementType type = ElementType::f32;
  int batch = 0, outputs = 0, ld = 0;
  const void* logits = nullptr;
  const float* bias = nullptr;  // f32[outputs]
  void* gradient = nullptr;
  float* bias_gradient = nullptr;  // f32[outputs]
  const float* targets = nullptr;
  const StepScalars* scalars = nullptr;
  float* loss = nullptr;
  float* biased = nullptr;
};
void launch_loss(const LossCall& call, Stream stream);

// `count` gradients of a step's batches, which backward writes to the same place one after the other.
struct AccumulateCall {
  ElementType type = ElementType::f32;
  std::int64_t count = 0;
  void* gradient = nullptr;
  float* sum = nullptr;
};
// The sum takes this batch in, or begins with it.
void launch_accumulate(const AccumulateCall& call, bool begins, Stream stream);
// The gradient becomes the mean of `batches`: of those in the sum and its own.
void launch_average(const AccumulateCall& call, int batches, Stream stream);
// A batch is done that does not end its step.
void launch_end_batch(StepScalars* scalars, Stream stream);

// Sets scalars->overflow where one of `count` gradients, which begin at a multiple of 16 bytes, is infinite or NaN.
void launch_overflow_check(ElementType type, const void* gradient, std::int64_t count, StepScalars* scalars,
                           Stream stream);
// Of the updates that are queued behind. By a kernel: a copy from the host's stack would wait for all that is queued.
void launch_set_learning_rate(StepScalars* scalars, float rate, Stream stream);
// decide() of step_scalars.hpp: after all checks of a step, before its updates.
void launch_decide(StepScalars* scalars, const StepRules& rules, Stream stream);

// Updates `count` weights unless scalars->skip. All arrays begin at multiples of 16 bytes. The copy is null, or has the
// gradient's type, or any where gradients are f32.
struct UpdateCall {
  ElementType gradient_type = ElementType::f32, copy_type = ElementType::f32;
  std::int64_t count = 0;
  const void* gradient = nullptr;
  float* weight = nullptr;
  void* copy = nullptr;
  float* first = nullptr;   // Adam's mean of gradients, or the velocity
  float* second = nullptr;  // Adam's mean of squared gradients
  const StepScalars* scalars = nullptr;
};
void launch_adam(const UpdateCall& call, const StepRules& rules, float epsilon, Stream stream);
void launch_sgd(const UpdateCall& call, float momentum, Stream stream);
// Brings the copy, which must be there, up to the weights.
void launch_copy_weights(const UpdateCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels

// Launches the beginning and the end of a step on the device: upload.hpp, loss.hpp, overflow.hpp, step_scalars.hpp,
// accumulate.hpp, optimizer.hpp.
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/kernels/upload.hpp"

namespace chexbench::engine::cuda::kernels {

// Converts images to NHWC with `channels` = 4 or 8; the channels after the third are zero. `to` must be aligned to 16
// bytes.
// @throws DeviceError also if `channels` is neither 4 nor 8
struct UploadCall {
  ElementType type = ElementType::f32;
  int channels = 4;
  std::int64_t pixels = 0;  // Of all images.
  void* to = nullptr;
};
void launch_upload_gray(const UploadCall& call, const std::uint8_t* gray, const Normalization& norm, Stream stream);
void launch_upload_color(const UploadCall& call, const float* values, Stream stream);

// Computes the mean binary cross-entropy *loss (f32), its gradient times scalars->loss_scale, and the gradient of the
// last layer's bias. logits (without the bias) and gradient are [batch][ld]; targets and biased (the logits with the
// bias, f32) are [batch][outputs].
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

// The gradients of one parameter range, which the backward pass of each batch of a step writes to the same place.
struct AccumulateCall {
  ElementType type = ElementType::f32;
  std::int64_t count = 0;
  void* gradient = nullptr;
  float* sum = nullptr;
};
// Adds this batch's gradients to the sum, or starts the sum with them if `begins` is true.
void launch_accumulate(const AccumulateCall& call, bool begins, Stream stream);
// Replaces the gradients by the mean over `batches` batches: those in the sum and the current one.
void launch_average(const AccumulateCall& call, int batches, Stream stream);
// Counts a finished batch that is not the last one of its step.
void launch_end_batch(StepScalars* scalars, Stream stream);

// Sets scalars->overflow if one of `count` gradients is infinite or NaN. `gradient` must be aligned to 16 bytes.
void launch_overflow_check(ElementType type, const void* gradient, std::int64_t count, StepScalars* scalars,
                           Stream stream);
// Sets the learning rate of all updates that are queued after this call. It is a kernel because a copy from the host's
// stack would wait for all queued work.
void launch_set_learning_rate(StepScalars* scalars, float rate, Stream stream);
// Runs decide() of step_scalars.hpp; to be queued after all overflow checks of a step and before its updates.
void launch_decide(StepScalars* scalars, const StepRules& rules, Stream stream);

// Updates `count` weights unless scalars->skip is set. All arrays must be aligned to 16 bytes. `copy` is the copy of
// the weights that forward and backward read. It may be null; its type is that of the gradients, or any type if the
// gradients are f32.
// @throws DeviceError also if the copy has another type than gradients of a half type
struct UpdateCall {
  ElementType gradient_type = ElementType::f32, copy_type = ElementType::f32;
  std::int64_t count = 0;
  const void* gradient = nullptr;
  float* weight = nullptr;
  void* copy = nullptr;
  float* first = nullptr;   // Adam's mean of gradients, or SGD's velocity.
  float* second = nullptr;  // Adam's mean of squared gradients.
  const StepScalars* scalars = nullptr;
};
void launch_adam(const UpdateCall& call, const StepRules& rules, float epsilon, Stream stream);
void launch_sgd(const UpdateCall& call, float momentum, Stream stream);
// Writes the weights to the copy, which must not be null.
void launch_copy_weights(const UpdateCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels

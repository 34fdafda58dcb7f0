// Launches the beginning and the end of a step on the device: upload.hpp, loss.hpp, softmax_loss.hpp, overflow.hpp,
// gradient_norm.hpp, step_scalars.hpp, accumulate.hpp, optimizer.hpp.
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/kernels/upload.hpp"

namespace chexbench::engine::cuda::kernels {

// Converts images to NHWC with `channels` = 4 or 8; the channels after the third are zero. `to` must be aligned to 16
// bytes.
// @throws DeviceError, also if `channels` is neither 4 nor 8
struct UploadCall {
  FloatType type = FloatType::f32;
  int channels = 4;
  std::int64_t pixels = 0;  // Of all images.
  void* to = nullptr;
};
void launch_upload_gray(const UploadCall& call, const std::uint8_t* gray, const Normalization& norm, Stream stream);
void launch_upload_rgb(const UploadCall& call, const std::uint8_t* rgb, const Normalization& norm, Stream stream);
void launch_upload_color(const UploadCall& call, const float* values, Stream stream);

// Computes the *loss (f32; binary cross-entropy, or softmax cross-entropy if there are `rows`), its gradient times
// scalars->loss_scale, and the gradient of the last layer's bias. logits (without the bias) and gradient are
// [batch][ld]; targets and biased (the logits with the bias, f32) are [batch][outputs].
struct LossCall {
  FloatType type = FloatType::f32;
  int batch = 0, outputs = 0, ld = 0;
  const void* logits = nullptr;
  const float* bias = nullptr;  // f32[outputs]
  void* gradient = nullptr;
  float* bias_gradient = nullptr;  // f32[outputs]
  const float* targets = nullptr;
  const StepScalars* scalars = nullptr;
  float* loss = nullptr;
  float* biased = nullptr;
  float smoothing = 0;             // As in engine/loss_rule.hpp.
  const float* weights = nullptr;  // f32[outputs]; null: all are 1.
  float* rows = nullptr;           // For exclusive classes: softmax_floats(batch) floats, aligned to 16 bytes.
};
// Returns how many floats the sums of a batch of exclusive classes take: four for each image, and one for the batch.
constexpr std::int64_t softmax_floats(int batch) { return 4 * std::int64_t{batch} + 1; }
void launch_loss(const LossCall& call, Stream stream);

// The gradients of one parameter range, which the backward pass of each batch of a step writes to the same place.
struct AccumulateCall {
  FloatType type = FloatType::f32;
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
void launch_overflow_check(FloatType type, const void* gradient, std::int64_t count, StepScalars* scalars,
                           Stream stream);
// Writes sums of squares of `count` gradients to partials[kNormBlocks]. `gradient` must be aligned to 16 bytes.
void launch_gradient_squares(FloatType type, const void* gradient, std::int64_t count, double* partials, Stream stream);
// Adds up `count` partials into scalars->gradient_squares, in an order that depends on nothing else.
void launch_gradient_norm(const double* partials, int count, StepScalars* scalars, Stream stream);
// Sets the learning rate of all updates that are queued after this call. It is a kernel because a copy from the host's
// stack would wait for all queued work.
void launch_set_learning_rate(StepScalars* scalars, float rate, Stream stream);
// Runs decide() of step_scalars.hpp; to be queued after all overflow checks of a step and before its updates.
void launch_decide(StepScalars* scalars, const StepRules& rules, Stream stream);

// Updates `count` weights unless scalars->skip is set. All arrays must be aligned to 16 bytes. `copy` is the copy of
// the weights that forward and backward read. It may be null; its type is that of the gradients, or any type if the
// gradients are f32.
// @throws DeviceError, also if gradients are of a half type and the copy is not of the same type
struct UpdateCall {
  FloatType gradient_type = FloatType::f32, copy_type = FloatType::f32;
  std::int64_t count = 0;
  const void* gradient = nullptr;
  float* weight = nullptr;
  void* copy = nullptr;
  float* first = nullptr;   // Adam's mean of gradients, or SGD's velocity.
  float* second = nullptr;  // Adam's mean of squared gradients.
  const StepScalars* scalars = nullptr;
  float* average = nullptr;  // Moving average of the weights; null: none.
  float l2 = 0;              // Weight decay that is added to the gradient.
  float decay = 0;           // Weight decay of the weights themselves.
};
void launch_adam(const UpdateCall& call, const StepRules& rules, float epsilon, Stream stream);
void launch_sgd(const UpdateCall& call, float momentum, Stream stream);
// Moves the average towards the weights by 1 - `decay` of their difference (all of it at the first update), unless
// scalars->skip is set. To be queued after the update.
void launch_moving_average(const UpdateCall& call, float decay, Stream stream);
// Exchanges the weights with their average.
void launch_swap_average(const UpdateCall& call, Stream stream);
// Writes the weights to the copy, which must not be null.
void launch_copy_weights(const UpdateCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels

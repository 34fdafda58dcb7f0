#include "engine/cuda/kernels/gradients.hpp"

#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {

void launch_accumulate(const AccumulateCall& call, bool begins, Stream stream) {
  with_type(call.type, [&]<typename G>() {
    launch_calls(AddToSum<G>{static_cast<const G*>(call.gradient), call.sum, begins}, call.count, stream);
  });
}

void launch_average(const AccumulateCall& call, int batches, Stream stream) {
  const float share = 1.0f / static_cast<float>(batches);
  with_type(call.type, [&]<typename G>() {
    launch_calls(TakeMean<G>{static_cast<G*>(call.gradient), call.sum, share}, call.count, stream);
  });
}

void launch_overflow_check(FloatType type, const void* gradient, std::int64_t count, StepScalars* scalars,
                           Stream stream) {
  with_type(type, [&]<typename G>() {
    using Check = OverflowCheck<G>;
    launch_calls(Check{static_cast<const G*>(gradient), count, &scalars->overflow}, Check::calls(count), stream);
  });
}

void launch_gradient_squares(FloatType type, const void* gradient, std::int64_t count, double* partials,
                             Stream stream) {
  with_type(type, [&]<typename G>() {
    launch_blocks(GradientSquares<G>{static_cast<const G*>(gradient), count, partials}, kNormBlocks, stream);
  });
}

void launch_gradient_norm(const double* partials, int count, StepScalars* scalars, Stream stream) {
  launch_blocks(GradientNorm{partials, count, scalars}, 1, stream);
}

}  // namespace chexbench::engine::cuda::kernels

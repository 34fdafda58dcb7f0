// Copies a batch into the network's input tensor.
#pragma once

#include "core/batch.hpp"
#include "engine/onednn/planner.hpp"

namespace chexbench::engine::onednn {

// Converts from NHWC to NCHW and to the input's type (f32, or bf16 rounded to nearest). f32 batches have 3 channels
// and are normalized already. u8 batches have one gray channel, which is copied to 3 channels, and u8_rgb batches have
// 3. Both are normalized as in the pipeline for f32: (value / 255 - mean[c]) / std[c], with ImageNet's mean and
// standard deviation. Copies all images of the input's shape, whether valid or not, on the threads of parallel.hpp.
void upload(const Batch& batch, Tensor& input);

}  // namespace chexbench::engine::onednn

// From a batch to the network's input tensor.
#pragma once

#include "core/batch.hpp"
#include "engine/onednn/planner.hpp"

namespace chexbench::engine {

// NHWC to NCHW in the input's type. u8 batches are normalized on the way, (value / 255 - mean[c]) / std[c], with
// ImageNet's mean and std, as the pipeline does for f32 ones, and spread to 3 channels.
void upload(const Batch& batch, Tensor& input);

}  // namespace chexbench::engine

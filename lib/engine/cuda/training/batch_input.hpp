// Converts a batch on the device to the input of a program.
#pragma once

#include "core/batch.hpp"
#include "engine/cuda/program/addresses.hpp"

namespace chexbench::engine::cuda {

// Queues the conversion from `images`, a batch as delivered by the pipeline, to the program's input: NHWC in the type
// of the activations, with kInputChannels channels. Batches of bytes are also normalized with
// ImageNet's mean and standard deviation. May be captured into a CUDA graph.
// @throws DeviceError if CUDA refuses the launch
void convert_images(const Addresses& addresses, Deliver deliver, const Region& images, kernels::Stream stream);

}  // namespace chexbench::engine::cuda

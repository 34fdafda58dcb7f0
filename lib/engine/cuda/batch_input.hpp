// From a batch on the device to the input of a program.
#pragma once

#include "core/batch.hpp"
#include "engine/cuda/addresses.hpp"

namespace chexbench::engine::cuda {

// `images` holds a batch as it was delivered. Queued; may be captured.
void convert_images(const Addresses& addresses, Deliver deliver, const Region& images, kernels::Stream stream);

}  // namespace chexbench::engine::cuda

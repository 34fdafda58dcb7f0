// DeviceCopies with the CUDA runtime, on a separate stream. Private to this folder.
#pragma once

#include <memory>

#include "comm/device_copies.hpp"

namespace chexbench::comm::nccl {

// @throws DeviceError if CUDA has no such GPU
std::unique_ptr<DeviceCopies> make_cuda_copies(int gpu);

}  // namespace chexbench::comm::nccl

// Exports the symbol that copies_module.cpp looks up.
#include "comm/nccl/cuda_copies.hpp"

extern "C" chexbench::comm::DeviceCopies* chexbench_make_device_copies(int gpu) {
  return chexbench::comm::nccl::make_cuda_copies(gpu).release();
}

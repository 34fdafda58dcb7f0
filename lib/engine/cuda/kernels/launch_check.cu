#include "engine/cuda/kernels/launch_check.hpp"

#include <cuda_runtime.h>

#include <string>

#include "core/errors.hpp"

namespace chexbench::engine::cuda::kernels {

void check_cuda(int error, const char* what) {
  if (error == cudaSuccess) return;
  throw DeviceError(std::string("CUDA kernel (") + what + "): " + cudaGetErrorString(static_cast<cudaError_t>(error)));
}

void check_launch(const char* what) { check_cuda(cudaGetLastError(), what); }

int multiprocessors() {
  static const int count = [] {
    int device = 0, found = 0;
    check_cuda(cudaGetDevice(&device), "current device");
    check_cuda(cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, device), "multiprocessors");
    return found;
  }();
  return count;
}

}  // namespace chexbench::engine::cuda::kernels

#include "engine/cuda/cuda_check.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"

namespace chexbench::engine::cuda {
namespace {

const char* advice(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
      return "; the GPU's memory has an error that it could not correct: reset the GPU, and look at its remapped rows "
             "(nvidia-smi -q -d ECC,ROW_REMAPPER)";
    case cudaErrorMemoryAllocation:
      return "; another process may hold the rest of the memory (nvidia-smi), or training.batch_size is too large";
    case cudaErrorDevicesUnavailable:
      return "; another process has the GPU in exclusive mode (nvidia-smi -q -d COMPUTE)";
    case cudaErrorLaunchFailure:
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
      return "; that is a defect of chexbench or of a library: compute-sanitizer names the kernel";
    default:
      return "";
  }
}

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // forgets it: who survives it must not have the next launch blamed
  throw DeviceError(fmt::format("CUDA: {} failed: {} ({}){}", what, cudaGetErrorString(error), cudaGetErrorName(error),
                                advice(error)));
}

}  // namespace chexbench::engine::cuda

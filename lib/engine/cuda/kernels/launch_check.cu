#include "engine/cuda/kernels/launch_check.hpp"

#include <cuda_runtime.h>

#include <cstdlib>
#include <string>

#include "core/errors.hpp"

namespace chexbench::engine::cuda::kernels {
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
    case cudaErrorUnknown:
      return "; the GPU may be lost: look for Xid in the kernel's log, and whether nvidia-smi still lists it";
    case cudaErrorNoKernelImageForDevice:
      return "; this build has no code for that GPU: chexbench doctor tells which it has";
    case cudaErrorLaunchFailure:
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
      return "; that is a defect of chexbench or of a library: compute-sanitizer names the kernel";
    default:
      return "";
  }
}

// Returns whether CUDA reports the error from every later call of the process, too. According to the runtime's
// documentation, the process must end after these errors before the device can be used again.
bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorContained:
    case cudaErrorExternalDevice:
      return true;
    default:
      return false;
  }
}

int attribute(cudaDeviceAttr which, const char* what) {
  int device = 0, found = 0;
  check_cuda(cudaGetDevice(&device), "current device");
  check_cuda(cudaDeviceGetAttribute(&found, which, device), what);
  return found;
}

}  // namespace

void check_cuda(int error, const char* what) {
  if (error == cudaSuccess) return;
  const auto status = static_cast<cudaError_t>(error);
  cudaGetLastError();  // Clears the error, or the next launch would report it.
  const std::string message = std::string("CUDA: ") + what + " failed: " + cudaGetErrorString(status) + " (" +
                              cudaGetErrorName(status) + ")" + advice(status);
  if (is_sticky(status)) throw DeviceLostError(message);
  throw DeviceError(message);
}

void check_launch(const char* what) { check_cuda(cudaGetLastError(), (std::string("kernel '") + what + "'").c_str()); }

int multiprocessors() {
  static const int count = attribute(cudaDevAttrMultiProcessorCount, "multiprocessors");
  return count;
}

bool launches_programmatically() {
  static const bool launches =
      launches_programmatically(10 * attribute(cudaDevAttrComputeCapabilityMajor, "compute capability"),
                                std::getenv(kProgrammaticLaunchVariable));
  return launches;
}

}  // namespace chexbench::engine::cuda::kernels

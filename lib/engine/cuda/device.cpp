#include "engine/cuda/device.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "core/errors.hpp"

namespace chexbench::engine::cuda {
namespace {

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw DeviceError(
        fmt::format("CUDA: {} failed: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error)));
}

cudaEvent_t event(void* handle) { return static_cast<cudaEvent_t>(handle); }

void* new_event() {
  cudaEvent_t created = nullptr;
  check(cudaEventCreate(&created), "cudaEventCreate");
  return created;
}

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

}  // namespace

void require_device() {
  int driver = 0, runtime = 0, devices = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  if (driver == 0) throw DeviceError("CUDA: no driver is installed on this machine");
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaErrorInsufficientDriver) {
    throw DeviceError(fmt::format("CUDA: the driver is for CUDA {}, this build needs one for {} or newer",
                                  version(driver), version(runtime)));
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && devices == 0))
    throw DeviceError("CUDA: there is a driver, but no GPU that this process may use (CUDA_VISIBLE_DEVICES?)");
  check(error, "cudaGetDeviceCount");
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  if (error == cudaErrorMemoryAllocation) {
    std::size_t available = 0, total = 0;
    check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    throw DeviceError(fmt::format("CUDA: {:.2f} GB of device memory were asked for, {:.2f} of {:.2f} GB are left",
                                  1e-9 * static_cast<double>(bytes), 1e-9 * static_cast<double>(available),
                                  1e-9 * static_cast<double>(total)));
  }
  check(error, "cudaMalloc");
  memory_.reset(memory);
}

void DeviceMemory::Release::operator()(void* memory) const { cudaFree(memory); }

void DeviceMemory::fill(int byte) { check(cudaMemsetAsync(data(), byte, bytes_, nullptr), "cudaMemsetAsync"); }

DeviceTimer::DeviceTimer() : begin_(new_event()), end_(new_event()) {}

DeviceTimer::~DeviceTimer() {
  cudaEventDestroy(event(begin_));
  cudaEventDestroy(event(end_));
}

void DeviceTimer::begin() { check(cudaEventRecord(event(begin_), nullptr), "cudaEventRecord"); }
void DeviceTimer::end() { check(cudaEventRecord(event(end_), nullptr), "cudaEventRecord"); }

double DeviceTimer::elapsed_s() const {
  check(cudaEventSynchronize(event(end_)), "a kernel");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event(begin_), event(end_)), "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace chexbench::engine::cuda

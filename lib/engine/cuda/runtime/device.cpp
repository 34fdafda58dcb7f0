#include "engine/cuda/runtime/device.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <atomic>

#include "core/errors.hpp"
#include "engine/cuda/kernels/launch_check.hpp"

namespace chexbench::engine::cuda {

using kernels::check_cuda;
namespace {

cudaEvent_t event(void* handle) { return static_cast<cudaEvent_t>(handle); }

void* new_event() {
  cudaEvent_t created = nullptr;
  check_cuda(cudaEventCreate(&created), "cudaEventCreate");
  return created;
}

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

}  // namespace

void require_device() {
  int driver = 0, runtime = 0, devices = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  if (driver == 0) throw DeviceError("CUDA: no driver is installed on this machine");
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaErrorInsufficientDriver) {
    throw DeviceError(fmt::format("CUDA: the driver is for CUDA {}, this build needs one for {} or newer",
                                  version(driver), version(runtime)));
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && devices == 0))
    throw DeviceError("CUDA: there is a driver, but no GPU that this process may use (CUDA_VISIBLE_DEVICES?)");
  check_cuda(error, "cudaGetDeviceCount");
}

namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

DeviceIdentity identify(int index) {
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  std::array<char, 32> bus_id{};
  check_cuda(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), index), "cudaDeviceGetPCIBusId");
  return {.name = properties.name,
          .uuid = uuid_text(properties.uuid),
          .pci_bus_id = bus_id.data(),
          .compute_capability = 10 * properties.major + properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .memory_bytes = properties.totalGlobalMem,
          .cache_bytes = static_cast<std::size_t>(properties.l2CacheSize)};
}

// CUDA's current device belongs to a thread. Without this, another thread would pin memory for device 0 and create a
// context there.
std::atomic<int> selected = 0;

class CudaPinnedAllocator final : public PinnedAllocator {
 public:
  std::byte* allocate(std::size_t bytes) override {
    check_cuda(cudaSetDevice(selected), "cudaSetDevice");
    void* memory = nullptr;
    check_cuda(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), "pinning host memory");
    return static_cast<std::byte*>(memory);
  }
  void deallocate(std::byte* memory, std::size_t) noexcept override {
    cudaSetDevice(selected);
    cudaFreeHost(memory);
  }
};

}  // namespace

std::vector<DeviceIdentity> visible_devices() {
  require_device();
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  std::vector<DeviceIdentity> devices;
  for (int i = 0; i < count; ++i) devices.push_back(identify(i));
  return devices;
}

DeviceIdentity select_device(int index) {
  const std::vector<DeviceIdentity> devices = visible_devices();
  if (index < 0 || index >= static_cast<int>(devices.size())) {
    throw DeviceError(
        fmt::format("CUDA: there is no GPU {}: {} are visible (CUDA_VISIBLE_DEVICES?)", index, devices.size()));
  }
  check_cuda(cudaSetDevice(index), "cudaSetDevice");
  selected = index;
  return devices[static_cast<std::size_t>(index)];
}

DeviceIdentity current_device() {
  int index = 0;
  check_cuda(cudaGetDevice(&index), "cudaGetDevice");
  return identify(index);
}

void check_device() { check_cuda(cudaDeviceSynchronize(), "the device"); }

std::size_t free_device_bytes() {
  std::size_t available = 0, total = 0;
  check_cuda(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
  return available;
}

PinnedAllocator& pinned_allocator() {
  static CudaPinnedAllocator instance;
  return instance;
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // else the next launch would report this error
    std::size_t available = 0, total = 0;
    check_cuda(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    throw DeviceError(fmt::format("CUDA: {:.2f} GB of device memory were requested, {:.2f} of {:.2f} GB are left",
                                  1e-9 * static_cast<double>(bytes), 1e-9 * static_cast<double>(available),
                                  1e-9 * static_cast<double>(total)));
  }
  check_cuda(error, "cudaMalloc");
  memory_.reset(memory);
}

void DeviceMemory::Release::operator()(void* memory) const { cudaFree(memory); }

void DeviceMemory::fill(int byte) { check_cuda(cudaMemsetAsync(data(), byte, bytes_, nullptr), "cudaMemsetAsync"); }

DeviceTimer::DeviceTimer() : begin_(new_event()), end_(new_event()) {}

DeviceTimer::~DeviceTimer() {
  cudaEventDestroy(event(begin_));
  cudaEventDestroy(event(end_));
}

void DeviceTimer::begin() { check_cuda(cudaEventRecord(event(begin_), nullptr), "cudaEventRecord"); }
void DeviceTimer::end() { check_cuda(cudaEventRecord(event(end_), nullptr), "cudaEventRecord"); }

double DeviceTimer::elapsed_s() const {
  check_cuda(cudaEventSynchronize(event(end_)), "a kernel");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, event(begin_), event(end_)), "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace chexbench::engine::cuda

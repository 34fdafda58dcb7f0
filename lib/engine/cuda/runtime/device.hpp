// The GPU of this process: its identity, its memory, and times on its default stream, through the CUDA runtime. A
// process uses one GPU, so nothing after select_device() names a device.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/allocator.hpp"

namespace chexbench::engine::cuda {

// Checks that CUDA can be used.
// @throws DeviceError if there is no driver, the driver is too old for this build's runtime, or there is no GPU; each
// has its own message
void require_device();

// A GPU's names, and the properties that the engine needs.
struct DeviceIdentity {
  std::string name;            // "NVIDIA H100 80GB HBM3"
  std::string uuid;            // "GPU-...", as in NVML and nvidia-smi
  std::string pci_bus_id;      // "0000:17:00.0"
  int compute_capability = 0;  // 90 means 9.0
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;  // of the level that all multiprocessors share
};

// Returns the GPUs visible to this process (CUDA_VISIBLE_DEVICES), in CUDA's order.
// @throws DeviceError as require_device()
std::vector<DeviceIdentity> visible_devices();

// Makes this process use the device with that index in visible_devices(), in all threads that allocate pinned memory
// and in the calling thread. Returns its identity.
// @throws DeviceError if there is no such device, or as require_device()
DeviceIdentity select_device(int index);
// Returns the identity of the device that the calling thread uses. @throws DeviceError if CUDA reports an error
DeviceIdentity current_device();
// Waits for the device. @throws DeviceLostError if it stopped working, DeviceError for any other error
void check_device();
// Returns the bytes of free device memory. @throws DeviceError if CUDA reports an error
std::size_t free_device_bytes();

// Allocates pinned host memory, so that the driver copies directly from and to it. Lives as long as the process.
// Thread-safe.
PinnedAllocator& pinned_allocator();

// Owns pinned host memory. Uninitialized. @throws DeviceError if the constructor cannot pin it
class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t bytes) : memory_(pinned_allocator().allocate(bytes)), bytes_(bytes) {}
  ~PinnedMemory() { pinned_allocator().deallocate(memory_, bytes_); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  std::byte* data() const { return memory_; }

 private:
  std::byte* memory_;
  std::size_t bytes_;
};

// Owns device memory. Uninitialized. Movable. Not thread-safe.
class DeviceMemory {
 public:
  // @throws DeviceError if that much is not free; the message gives the free amount
  explicit DeviceMemory(std::size_t bytes);

  void* data() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }
  // Sets every byte, in the order of the default stream; returns at once. @throws DeviceError if CUDA reports an
  // error
  void fill(int byte);

 private:
  struct Release {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Release> memory_;
  std::size_t bytes_ = 0;
};

// Measures device time with two events on the default stream. begin() and end() return at once. Not thread-safe. All
// functions @throws DeviceError if CUDA reports an error
class DeviceTimer {
 public:
  DeviceTimer();
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  void begin();
  void end();
  // Waits until the device has passed end(), and returns the time since begin(). @throws DeviceError if the device
  // failed meanwhile
  double elapsed_s() const;

 private:
  void* begin_ = nullptr;
  void* end_ = nullptr;
};

}  // namespace chexbench::engine::cuda

// The GPU of this process: which it is, its memory, and times on its default stream, by the CUDA runtime. A process has
// one, so after select_device() no device is named.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/allocator.hpp"

namespace chexbench::engine::cuda {

// @throws DeviceError: no driver, a driver too old for this build's runtime, or no device, each in its words
void require_device();

struct DeviceIdentity {
  std::string name;            // "NVIDIA H100 80GB HBM3"
  std::string uuid;            // "GPU-...", as NVML and nvidia-smi write it
  std::string pci_bus_id;      // "0000:17:00.0"
  int compute_capability = 0;  // 90: 9.0
  int multiprocessors = 0;
};

// Those that CUDA shows this process (CUDA_VISIBLE_DEVICES), in its order. @throws DeviceError as require_device()
std::vector<DeviceIdentity> visible_devices();

// From now on this process uses the device with that index of visible_devices(). @throws DeviceError: there is no such
DeviceIdentity select_device(int index);
std::size_t free_device_bytes();

// Pinned host memory: copies from and to it need no detour. Thread-safe.
PinnedAllocator& pinned_allocator();

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

// Uninitialized device memory. Movable.
class DeviceMemory {
 public:
  // @throws DeviceError where there is not that much left: how much is
  explicit DeviceMemory(std::size_t bytes);

  void* data() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }
  // Sets every byte; returns at once, in the order of the default stream.
  void fill(int byte);

 private:
  struct Release {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Release> memory_;
  std::size_t bytes_ = 0;
};

// Two events on the default stream. begin() and end() return at once.
class DeviceTimer {
 public:
  DeviceTimer();
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  void begin();
  void end();
  // Waits for end(). @throws DeviceError where the device failed meanwhile
  double elapsed_s() const;

 private:
  void* begin_ = nullptr;
  void* end_ = nullptr;
};

}  // namespace chexbench::engine::cuda

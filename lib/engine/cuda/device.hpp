// The GPU of this process: memory, a stream, and times, by the CUDA runtime. One a process, so no device is named.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace chexbench::engine::cuda {

// @throws DeviceError: no driver, a driver too old for this build's runtime, or no device, each in its words
void require_device();

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

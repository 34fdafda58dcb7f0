// Moving gradients between a GPU's memory and the host's, and memory there to try it with: nccl/cuda_copies.cpp does
// it, tests have a stand-in.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/reducer.hpp"

namespace chexbench::comm {

// Used by one thread, any. Every function returns when the GPU has done it. @throws DeviceError where the GPU fails
class DeviceCopies {
 public:
  virtual ~DeviceCopies() = default;
  // Host memory that copies run fastest from and to (pinned); valid until the next call, owned by this.
  virtual std::span<std::byte> host_buffer(std::size_t bytes) = 0;
  // Sleeps until the GPU has come to the event.
  virtual void wait(ReadyEvent ready) = 0;
  virtual void to_host(const void* device, std::span<std::byte> host) = 0;
  virtual void to_device(std::span<const std::byte> host, void* device) = 0;
  // Memory of the GPU, for who has no engine; valid until the next call, owned by this.
  virtual void* device_buffer(std::size_t bytes) = 0;
  // An event that the GPU comes to once it has done all of the copies above; valid until the next of them.
  virtual ReadyEvent copied() = 0;
};

// Copies of the GPU number `gpu` of those that CUDA shows this process. @throws DeviceError where there is no CUDA
std::unique_ptr<DeviceCopies> make_device_copies(int gpu);

}  // namespace chexbench::comm

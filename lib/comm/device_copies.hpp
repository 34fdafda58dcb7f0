// Copies gradients between a GPU's memory and the host's, and owns some device memory for testing averages.
// nccl/cuda_copies.cpp implements this interface; tests use a stand-in.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/reducer.hpp"

namespace chexbench::comm {

// Used by one thread at a time. Every function except copied() returns after the GPU has finished.
// @throws DeviceError from any function if the GPU fails
class DeviceCopies {
 public:
  virtual ~DeviceCopies() = default;
  // Returns pinned host memory, which is fastest to copy from and to. This object owns it; it is valid until the next
  // call.
  virtual std::span<std::byte> host_buffer(std::size_t bytes) = 0;
  // Sleeps until the GPU has reached the event.
  virtual void wait(ReadyEvent ready) = 0;
  virtual void to_host(const void* device, std::span<std::byte> host) = 0;
  virtual void to_device(std::span<const std::byte> host, void* device) = 0;
  // Returns device memory for callers that have no engine. This object owns it; it is valid until the next call.
  virtual void* device_buffer(std::size_t bytes) = 0;
  // Returns an event that the GPU reaches after all copies so far; valid until the next copy.
  virtual ReadyEvent copied() = 0;
};

// Returns copies for the GPU with CUDA's index `gpu` in this process.
// @throws DeviceError if this build or this machine has no CUDA, or CUDA has no such GPU
std::unique_ptr<DeviceCopies> make_device_copies(int gpu);

}  // namespace chexbench::comm

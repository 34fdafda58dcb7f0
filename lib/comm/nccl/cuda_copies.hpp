// The CUDA runtime for both modules: checks, events, streams, and DeviceCopies on a separate stream. Private to this
// folder.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "comm/device_copies.hpp"
#include "core/errors.hpp"

namespace chexbench::comm::nccl {

// @throws DeviceError that names `what` if `error` is not cudaSuccess
inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw DeviceError(
      fmt::format("comm: CUDA: {} failed: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error)));
}

// Owns an event of the current device; `flags` are those of cudaEventCreateWithFlags. Movable.
class Event {
 public:
  explicit Event(unsigned flags) { check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags"); }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// Owns a stream of the current device that does not synchronize with the default stream.
class Stream {
 public:
  explicit Stream(int priority) {
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority), "cudaStreamCreateWithPriority");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// @throws DeviceError if CUDA has no such GPU
std::unique_ptr<DeviceCopies> make_cuda_copies(int gpu);

}  // namespace chexbench::comm::nccl

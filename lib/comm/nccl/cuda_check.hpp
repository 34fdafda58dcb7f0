// What both modules need of the CUDA runtime. Private to this folder.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <utility>

#include "core/errors.hpp"

namespace chexbench::comm::nccl {

// @throws DeviceError that names `what` for any error
inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw DeviceError(
      fmt::format("comm: CUDA: {} failed: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error)));
}

// An event of the current device; `flags` as of cudaEventCreateWithFlags. Movable.
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

// A stream of the current device that no default stream holds up.
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

}  // namespace chexbench::comm::nccl

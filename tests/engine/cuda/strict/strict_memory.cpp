// Memory of the device and pinned memory: allocations, copies, and the rules for copies.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "strict_state.hpp"

namespace strict {
namespace {

const Range* range_of(const void* memory, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(memory);
  auto next = state().ranges.upper_bound(begin);
  if (next == state().ranges.begin()) return nullptr;
  const auto& [start, range] = *std::prev(next);
  if (begin >= start + range.bytes) return nullptr;
  if (begin + bytes > start + range.bytes) {
    refuse(cudaErrorInvalidValue, "memory beyond the end of its allocation");
    return nullptr;
  }
  return &range;
}

bool is_device(const void* memory, std::size_t bytes) {
  const Range* const range = range_of(memory, bytes);
  return range != nullptr && range->kind == Kind::device;
}
bool is_pinned(const void* memory, std::size_t bytes) {
  const Range* const range = range_of(memory, bytes);
  return range != nullptr && range->kind == Kind::pinned;
}

cudaError_t allocate(void** memory, std::size_t bytes, Kind kind) {
  auto* const made = static_cast<std::byte*>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  std::memset(made, 0xff, bytes);
  state().ranges[made] = {bytes, kind};
  *memory = made;
  return cudaSuccess;
}

// As in CUDA, freeing waits for the device.
cudaError_t release(void* memory, Kind kind) {
  if (memory == nullptr) return cudaSuccess;
  if (current_device != kDevice) return refuse(cudaErrorInvalidDevice, "freed memory by a thread with another device");
  const auto found = state().ranges.find(static_cast<std::byte*>(memory));
  if (found == state().ranges.end() || found->second.kind != kind)
    return refuse(cudaErrorInvalidValue, "freed what was not allocated so");
  state().scheduler->run_until([] { return state().scheduler->is_idle(); });
  state().ranges.erase(found);
  std::free(memory);
  return cudaSuccess;
}

// Copies to where the host reads are NaN until they are done.
cudaError_t copy_to_host(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (!is_device(from, bytes)) return refuse(cudaErrorInvalidValue, "a copy from what is not device memory");
  if (is_device(to, bytes)) return refuse(cudaErrorInvalidValue, "a copy to the host whose goal is on the device");
  const bool captured = stream_of(stream).capture != nullptr;
  if (captured && !is_pinned(to, bytes))
    return refuse(cudaErrorInvalidValue, "a captured copy to memory that is not pinned");
  if (!captured) std::memset(to, 0xff, bytes);
  return enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}

// Memory that is not pinned is copied into a buffer of the driver before the call returns.
cudaError_t copy_to_device(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (!is_device(to, bytes)) return refuse(cudaErrorInvalidValue, "a copy to what is not device memory");
  if (is_device(from, bytes)) return refuse(cudaErrorInvalidValue, "a copy to the device that begins there");
  if (is_pinned(from, bytes)) return enqueue(stream, [=] { std::memcpy(to, from, bytes); });
  if (stream_of(stream).capture) return refuse(cudaErrorInvalidValue, "a captured copy from memory that is not pinned");
  const auto* const begin = static_cast<const std::byte*>(from);
  return enqueue(stream, [to, staged = std::vector<std::byte>(begin, begin + bytes)] {
    std::memcpy(to, staged.data(), staged.size());
  });
}

}  // namespace
}  // namespace strict

using namespace strict;

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t error = make_something("device memory", true); error != cudaSuccess) return error;
  if (bytes > kMemoryBytes) return fail(cudaErrorMemoryAllocation);
  return allocate(memory, bytes, Kind::device);
}
cudaError_t cudaFree(void* memory) {
  const std::lock_guard lock(state().mutex);
  return release(memory, Kind::device);
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t error = make_something("pinned memory", true); error != cudaSuccess) return error;
  return allocate(memory, bytes, Kind::pinned);
}
cudaError_t cudaFreeHost(void* memory) {
  const std::lock_guard lock(state().mutex);
  return release(memory, Kind::pinned);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (kind == cudaMemcpyHostToDevice) return copy_to_device(to, from, bytes, stream);
  if (kind == cudaMemcpyDeviceToHost) return copy_to_host(to, from, bytes, stream);
  if (!is_device(to, bytes) || !is_device(from, bytes))
    return refuse(cudaErrorInvalidValue, "a copy on the device of what is elsewhere");
  return enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (kind != cudaMemcpyDeviceToHost || !is_device(from, (height - 1) * from_pitch + width))
    return refuse(cudaErrorInvalidValue, "rows that are not device memory");
  std::memset(to, 0xff, height * to_pitch);
  return enqueue(stream, [=] {
    for (std::size_t row = 0; row < height; ++row)
      std::memcpy(static_cast<std::byte*>(to) + row * to_pitch, static_cast<const std::byte*>(from) + row * from_pitch,
                  width);
  });
}
cudaError_t cudaMemsetAsync(void* memory, int byte, std::size_t bytes, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (!is_device(memory, bytes)) return refuse(cudaErrorInvalidValue, "setting what is not device memory");
  return enqueue(stream, [=] { std::memset(memory, byte, bytes); });
}

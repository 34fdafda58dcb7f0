// The memory that holds the values that `chexbench comm` averages: host memory or that of a GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/reducer.hpp"

namespace chexbench::verbs {

// A buffer of values. Not thread-safe.
// @throws DeviceError from any function if the GPU fails
class GradientMemory {
 public:
  virtual ~GradientMemory() = default;
  virtual GradientType type() const = 0;
  // Returns the first `values` values as a span that a reducer takes. The memory stays owned by this object.
  virtual BucketSpan bucket(std::size_t values) = 0;
  // Returns the event that a reducer must wait for before it uses the values of the last write(); null in host memory.
  virtual ReadyEvent written() = 0;
  // Copy values to and from the begin of the buffer. write() rounds values that type() cannot represent.
  virtual void write(std::span<const float> values) = 0;
  virtual void read(std::span<float> values) = 0;
};

// Allocates `bytes` bytes of f32 in host memory.
std::unique_ptr<GradientMemory> make_host_memory(std::size_t bytes);
// Allocates `bytes` bytes of f32 or f16 on the GPU with CUDA's index `gpu` in this process.
// @throws DeviceError if this build or this machine has no CUDA, CUDA has no such GPU, or it has too little memory
std::unique_ptr<GradientMemory> make_gpu_memory(std::size_t bytes, GradientType type, int gpu);

}  // namespace chexbench::verbs

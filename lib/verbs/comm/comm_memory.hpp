// Where the values lie that `chexbench comm` averages: host memory, or a GPU's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/reducer.hpp"

namespace chexbench::verbs {

// Used by one thread. @throws DeviceError where a GPU fails
class GradientMemory {
 public:
  virtual ~GradientMemory() = default;
  virtual GradientType type() const = 0;
  // The first of its values, as a reducer takes them.
  virtual BucketSpan bucket(std::size_t values) = 0;
  // What a reducer has to wait for before it may touch what was written; null in host memory.
  virtual ReadyEvent written() = 0;
  // Both from the first value on; a value that is no number of type() is rounded.
  virtual void write(std::span<const float> values) = 0;
  virtual void read(std::span<float> values) = 0;
};

// Room for `bytes` of f32.
std::unique_ptr<GradientMemory> make_host_memory(std::size_t bytes);
// Room for `bytes` of f32 or f16 on the GPU number `gpu` of those that CUDA shows this process.
std::unique_ptr<GradientMemory> make_gpu_memory(std::size_t bytes, GradientType type, int gpu);

}  // namespace chexbench::verbs

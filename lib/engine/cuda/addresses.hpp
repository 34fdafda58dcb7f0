// From the words of a program to device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/backward_order.hpp"
#include "engine/cuda/element_type.hpp"
#include "engine/cuda/kernels/norm_launch.hpp"
#include "engine/cuda/kernels/pool_launch.hpp"
#include "engine/cuda/memory_plan.hpp"

namespace chexbench::engine::cuda {

// A network's program, what it was planned with, and its memory. References must outlive this. Thread-safe: all const.
class Addresses {
 public:
  struct Config {
    const model::Graph& graph;
    const Program& program;
    const ParameterLayout& parameters;
    const MemoryPlan& plan;
    std::byte* memory = nullptr;  // plan.regions.bytes
    int images = 0;
    spec::Precision precision = spec::Precision::f32;
    bool frozen = false;
    std::uint64_t dropout_seed = 0;
    int batches_of_step = 1;  // training.accumulate_steps
  };
  explicit Addresses(const Config& config) : config_(config), type_(element_type(config.precision)) {}

  const Config& config() const { return config_; }
  kernels::ElementType type() const { return type_; }
  template <typename T = std::byte>
  T* at(const Region& region, std::size_t index = 0) const {
    return reinterpret_cast<T*>(config_.memory + region.offset) + index;
  }

  int rows(const Slice& slice) const;  // pixels of all images
  kernels::Matrix activation(const Slice& slice) const;
  kernels::Matrix gradient(const Slice& slice) const { return gradient(slice, Target::gradient); }
  kernels::Matrix gradient(const Slice& slice, Target target) const;  // none where target is none
  std::uint8_t* winners(int node) const;

  // The four arrays of a value for each channel, at the first of the slice.
  float* channels(const Region& region, const Slice& slice) const;
  kernels::NormParameters norm(int node) const;
  kernels::Clamp clamp(const Node& node) const;
  kernels::PoolCall pool(const Node& node) const;  // without tensors

  // What forward and backward read, and where the gradient goes.
  const void* matrix(const ParameterPlace& place) const;
  void* matrix_gradient(const ParameterPlace& place) const;
  float* vector(const ParameterPlace& place) const;
  float* vector_gradient(const ParameterPlace& place) const;

 private:
  kernels::Matrix slice_of(const Slice& slice, std::size_t arena_offset) const;

  Config config_;
  kernels::ElementType type_;
};

}  // namespace chexbench::engine::cuda

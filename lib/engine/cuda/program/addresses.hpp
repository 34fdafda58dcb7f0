// Translates the buffers, nodes and parameters that a program names into device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/kernels/norm_forward.hpp"
#include "engine/cuda/kernels/pool.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/program/backward_order.hpp"
#include "engine/cuda/program/memory_plan.hpp"
#include "engine/cuda/program/precision.hpp"

namespace chexbench::engine::cuda {

// Holds a network's program, the plan of its memory, and the memory itself. The objects that the config refers to,
// and the memory, must outlive this object; it owns neither. Thread-safe: all functions are const. Pointers that it
// returns are device memory.
class Addresses {
 public:
  struct Config {
    const model::Graph& graph;
    const Program& program;
    const ParameterLayout& parameters;
    const MemoryPlan& plan;
    std::byte* memory = nullptr;  // device memory of plan.regions.bytes
    int images = 0;               // of one batch
    spec::Precision precision = spec::Precision::f32;
    bool frozen = false;  // batch norms use their running statistics
    std::uint64_t dropout_seed = 0;
    int batches_of_step = 1;  // training.accumulate_steps
  };
  explicit Addresses(const Config& config) : config_(config), type_(element_type(config.precision)) {}

  const Config& config() const { return config_; }
  const DeviceRegions& regions() const { return config_.plan.regions; }
  // The type of activations, matrices and their gradients.
  FloatType type() const { return type_; }
  // The address of element `index` (counted in T) of a region.
  template <typename T = std::byte>
  T* at(const Region& region, std::size_t index = 0) const {
    return reinterpret_cast<T*>(config_.memory + region.offset) + index;
  }

  // The same of element 0, or null if the region is empty.
  template <typename T>
  T* at_or_null(const Region& region) const {
    return region.bytes > 0 ? at<T>(region) : nullptr;
  }
  kernels::StepScalars* scalars() const { return at<kernels::StepScalars>(regions().scalars); }

  int rows(const Slice& slice) const;  // rows of the slice as a matrix: the pixels of all images
  // The slice as a matrix [rows(slice)][slice.channels], whose ld is the number of channels of the whole buffer.
  kernels::Matrix activation(const Slice& slice) const;
  kernels::Matrix gradient(const Slice& slice) const { return gradient(slice, Target::gradient); }
  kernels::Matrix gradient(const Slice& slice, Target target) const;  // null if target is none
  // For max pool `node`, or a norm with one: the place of the window that each output came from.
  std::uint8_t* winners(int node) const;

  // The element of `region` that belongs to the slice's first channel. `region` is one of DeviceRegions' five f32
  // arrays by channel: mean, variance, inverse_deviation, slope or constant.
  float* channels(const Region& region, const Slice& slice) const;
  // Mean, variance, weight, bias and epsilon of norm `node`; the running statistics if norms are frozen.
  // @throws DeviceError if the program's layer has no such parameters
  kernels::NormParameters norm(int node) const;
  // The interval that the node's activation clamps its values to.
  kernels::Clamp clamp(const Node& node) const;
  kernels::PoolCall pool(const Node& node) const;  // of a pool, or a norm with one; x and y are left empty

  // The parameter that forward and backward read, and the place of its gradient. Matrices are in type(): these are
  // the f32 weights themselves if type() is f32, else their copies. Vectors are f32.
  const void* matrix(const ParameterPlace& place) const;
  void* matrix_gradient(const ParameterPlace& place) const;
  float* vector(const ParameterPlace& place) const;
  float* vector_gradient(const ParameterPlace& place) const;

 private:
  kernels::Matrix slice_of(const Slice& slice, std::size_t arena_offset) const;

  Config config_;
  FloatType type_;
};

}  // namespace chexbench::engine::cuda

// Weights, gradients and the optimizer's moments, each in one flat array in the order in which backward completes the
// gradients. A convolution's weights lie in the layout that oneDNN computes their gradient in, so that neither
// gradients nor updates are ever reordered; PyTorch's order exists only in read() and load().
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/onednn/device.hpp"
#include "model/tensor_info.hpp"

namespace chexbench::engine {

// Aligned, zeroed f32 memory from the host allocator.
class FloatArray {
 public:
  FloatArray() = default;
  explicit FloatArray(std::size_t count);
  float* data() const { return memory_.get(); }
  std::size_t size() const { return count_; }
  std::span<float> span() const { return {memory_.get(), count_}; }

 private:
  struct Release {
    std::size_t bytes;
    void operator()(float* memory) const;
  };
  std::size_t count_ = 0;
  std::unique_ptr<float[], Release> memory_{nullptr, Release{0}};
};

// One parameter's place. Valid once the store is allocated.
struct ParameterSlot {
  model::TensorInfo info;
  dnnl::memory::desc desc;  // in the flat arrays, f32; padding is zero
  std::size_t offset = 0;   // elements
  std::size_t count = 0;    // elements, padding included
  float* weights = nullptr;
  float* gradient = nullptr;
};

// Not thread-safe.
class ParameterStore {
 public:
  explicit ParameterStore(const Device& device) : device_(device) {}

  // To be called in the order in which backward completes the gradients. The reference stays valid.
  ParameterSlot& add(const model::TensorInfo& info, const dnnl::memory::desc& desc);
  ParameterSlot& add_vector(const model::TensorInfo& info);
  void allocate();
  // Elements added so far.
  std::size_t size() const { return count_; }

  std::span<float> weights() const { return weights_.span(); }
  std::span<float> gradients() const { return gradients_.span(); }
  const std::vector<std::unique_ptr<ParameterSlot>>& slots() const { return slots_; }
  // @throws SpecError for an unknown name
  const ParameterSlot& slot(const std::string& name) const;

  // `values` in PyTorch's order, slot.info.count() of them. @throws SpecError where it is another number
  void load(const ParameterSlot& slot, float* to, std::span<const float> values) const;
  // The same the other way. `to` and `from`: slot.weights, slot.gradient, or the slot's place in an array like theirs.
  void read(const ParameterSlot& slot, float* from, std::span<float> values) const;

 private:
  void reorder(const dnnl::memory::desc& from, void* source, const dnnl::memory::desc& to, void* destination) const;

  const Device& device_;
  std::vector<std::unique_ptr<ParameterSlot>> slots_;
  std::size_t count_ = 0;
  FloatArray weights_;
  FloatArray gradients_;
};

}  // namespace chexbench::engine

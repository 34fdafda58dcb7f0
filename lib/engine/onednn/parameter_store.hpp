// Stores weights and gradients, each in one flat array in the order in which backward completes the gradients; the
// optimizer's moments are arrays of the same kind. A convolution's weights have the layout in which oneDNN computes
// their gradient, so that neither gradients nor updates are ever reordered. PyTorch's order exists only in read() and
// load().
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/onednn/device.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::onednn {

// Owns an array of f32 values from the host allocator, aligned to 64 bytes and zeroed.
class FloatArray {
 public:
  FloatArray() = default;
  // @throws std::bad_alloc
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

// Where one parameter is in the flat arrays. The pointers are null until ParameterStore::allocate().
struct ParameterSlot {
  model::TensorInfo info;
  dnnl::memory::desc desc;  // its layout in the flat arrays, f32; padding is zero
  std::size_t offset = 0;   // elements
  std::size_t count = 0;    // elements, padding included
  float* weights = nullptr;
  float* gradient = nullptr;  // stays null if it is not trained
};

// Owns all parameters of one network. First add() each parameter, then allocate() once; after that the pointers of
// slots stay valid. Not thread-safe.
class ParameterStore {
 public:
  // `device` must outlive the store.
  explicit ParameterStore(const Device& device) : device_(device) {}

  // Adds a parameter whose layout is `desc` (f32). Must be called in the order in which backward completes the
  // gradients. The reference stays valid as long as the store. Each slot starts at a multiple of 64 bytes.
  ParameterSlot& add(const model::TensorInfo& info, const dnnl::memory::desc& desc);
  // The same for a parameter in row-major layout.
  ParameterSlot& add_vector(const model::TensorInfo& info);
  // Allocates the weights, and the gradients of the first `trained` elements, all zero. @throws std::bad_alloc
  void allocate(std::size_t trained);
  void allocate() { allocate(count_); }
  // The number of elements added so far, padding included.
  std::size_t size() const { return count_; }

  std::span<float> weights() const { return weights_.span(); }
  std::span<float> gradients() const { return gradients_.span(); }
  // In the order of the flat arrays.
  const std::vector<std::unique_ptr<ParameterSlot>>& slots() const { return slots_; }
  // @throws SpecError if no parameter has that name; the message suggests the nearest
  const ParameterSlot& slot(const std::string& name) const;

  // Copies `values`, slot.info.count() of them in PyTorch's order, to `to` in the slot's layout. `to` is slot.weights,
  // slot.gradient, or the slot's place in an array of the same layout, such as a moment's.
  // @throws SpecError if the number of values is wrong
  void load(const ParameterSlot& slot, float* to, std::span<const float> values) const;
  // The reverse of load(): copies from the slot's layout at `from` to `values` in PyTorch's order.
  // @throws SpecError if the number of values is wrong
  void read(const ParameterSlot& slot, float* from, std::span<float> values) const;

 private:
  void reorder(const dnnl::memory::desc& from, void* source, const dnnl::memory::desc& to, void* destination) const;

  const Device& device_;
  std::vector<std::unique_ptr<ParameterSlot>> slots_;
  std::size_t count_ = 0;
  FloatArray weights_;
  FloatArray gradients_;
};

}  // namespace chexbench::engine::onednn

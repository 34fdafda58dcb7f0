// Plans the memory of all activations and gradients. Ops say which tensors they use and when; tensors that are not in
// use at the same time share memory, in one arena that is allocated once.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core/allocator.hpp"
#include "engine/onednn/device.hpp"
#include "engine/onednn/parallel.hpp"

namespace chexbench::engine::onednn {

// An image of a flat tensor has one pixel.
struct TensorShape {
  int images = 0;
  int channels = 0;
  int height = 1;
  int width = 1;
  int pixels() const { return height * width; }
};

// An activation or a gradient. Other tensors may use its memory before its first use and after its last use.
struct Tensor {
  TensorShape shape;
  Layout layout = Layout::blocked;
  dnnl::memory::desc desc;
  FloatType type = FloatType::f32;
  std::size_t bytes = 0;  // including what spaces it from the next tensor in the arena
  int block = 8;          // channels per block

  // Times of the planner, both inclusive; -1 if it is never used.
  int first_use = -1;
  int last_use = -1;
  std::byte* data = nullptr;  // null until Planner::place(); the memory belongs to the planner

  int blocks() const { return (shape.channels + block - 1) / block; }
  // Returns the kernels' view of the tensor, from `first_channel` (a multiple of the block) on. Not for Layout::nchw;
  // the channels of a tensor that is not blocked must fill its blocks.
  View view(int first_channel = 0) const;
  // How threads share the work on the whole tensor.
  Division division() const { return Division::of(blocks(), shape.images, layout); }
};

// Rounds up, so that the next item begins on a new cache line.
constexpr std::size_t whole_lines(std::size_t bytes) {
  constexpr std::size_t kLineBytes = 64;
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

// Owns all tensors of one network and their memory: references to them are valid as long as the planner. First
// tensors are created and used at advancing times, then place() is called once. Not thread-safe.
class Planner {
 public:
  // `device` must outlive the planner.
  explicit Planner(const Device& device) : device_(device) {}

  Tensor& tensor(const TensorShape& shape, Layout layout, FloatType type);
  // Creates an activation: a tensor of the device's layout and type, or of another type.
  Tensor& tensor(const TensorShape& shape) { return tensor(shape, device_.type); }
  Tensor& tensor(const TensorShape& shape, FloatType type) { return tensor(shape, device_.layout, type); }
  // Creates a tensor of `count` bytes without shape and layout.
  Tensor& bytes(std::size_t count);
  // Changes the size of a tensor that is not placed yet.
  static void resize(Tensor& tensor, std::size_t bytes);

  // Marks the tensor as needed at the current time. A tensor keeps its memory from its first to its last use.
  void use(Tensor& tensor);
  // Moves on to the next time: that of the next op, in forward and then in backward.
  void advance() { ++time_; }

  // Each op that reads `of` registers the gradient that it computes. The sum of them all is the gradient of `of`. The
  // op that wrote `of` fetches them, in the order of backward.
  void add_gradient(const Tensor& of, Tensor& gradient) { gradients_[&of].push_back(&gradient); }
  const std::vector<Tensor*>& gradients(const Tensor& of) { return gradients_[&of]; }
  // Returns the same, and uses them.
  const std::vector<Tensor*>& use_gradients(const Tensor& of) {
    for (Tensor* const gradient : gradients(of)) use(*gradient);
    return gradients(of);
  }
  // Creates the gradient of `of`, of the same layout and type as activations, uses it and registers it.
  Tensor& new_gradient(const Tensor& of) {
    Tensor& gradient = tensor(of.shape);
    use(gradient);
    add_gradient(of, gradient);
    return gradient;
  }

  // Records that the op being planned adds them all up in the first one, so that the ops after it see only that one.
  void merge_gradients(const Tensor& of) { gradients_[&of].resize(1); }

  // Gives memory to every tensor that is used. @throws std::bad_alloc if there is not enough
  void place();
  // 0 before place().
  std::size_t arena_bytes() const { return arena_bytes_; }

 private:
  struct Release {
    std::size_t bytes;
    void operator()(std::byte* memory) const { host_allocator().deallocate(memory, bytes); }
  };

  const Device& device_;
  int time_ = 0;
  std::deque<Tensor> tensors_;
  std::map<const Tensor*, std::vector<Tensor*>> gradients_;
  std::size_t arena_bytes_ = 0;
  std::unique_ptr<std::byte[], Release> arena_{nullptr, Release{0}};
};

}  // namespace chexbench::engine::onednn

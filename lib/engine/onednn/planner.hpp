// Where every activation and gradient lives. Ops say which tensors they use and when; tensors whose times don't meet
// share memory, in one arena that is allocated once.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core/allocator.hpp"
#include "engine/onednn/device.hpp"

namespace chexbench::engine {

enum class Layout {
  blocked,  // nChw8c or nChw16c: what oneDNN's own kernels are fastest in
  nchw,     // the images that the first convolution reads
  flat,     // [images, channels], f32
};

struct TensorShape {
  int images = 0;
  int channels = 0;
  int height = 1;
  int width = 1;
  int pixels() const { return height * width; }
};

// An activation or a gradient. Its memory is only its own between the first and the last use.
struct Tensor {
  TensorShape shape;
  Layout layout = Layout::blocked;
  dnnl::memory::desc desc;
  ElementType type = ElementType::f32;
  std::size_t bytes = 0;
  int block = 8;

  int first_use = -1;
  int last_use = -1;
  std::byte* data = nullptr;  // once the planner has placed it

  int blocks() const { return (shape.channels + block - 1) / block; }
  // Channels from `first_channel` (a multiple of the block) on. Blocked tensors only.
  View view(int first_channel = 0) const;
};

// Not thread-safe. Tensors live as long as the planner.
class Planner {
 public:
  explicit Planner(const Device& device) : device_(device) {}

  Tensor& tensor(const TensorShape& shape, Layout layout, ElementType type);
  // A blocked tensor of the device's type.
  Tensor& tensor(const TensorShape& shape) { return tensor(shape, Layout::blocked, device_.type); }
  // A tensor of plain bytes, and another size for it.
  Tensor& bytes(std::size_t count);
  static void resize(Tensor& tensor, std::size_t bytes);

  // The tensor is needed at the current time.
  void use(Tensor& tensor);
  void advance() { ++time_; }

  // Gradients of `of` that the ops reading it produce; their sum is the gradient.
  void add_gradient(const Tensor& of, Tensor& gradient) { gradients_[&of].push_back(&gradient); }
  const std::vector<Tensor*>& gradients(const Tensor& of) { return gradients_[&of]; }

  // The op being planned adds them all up in the first.
  void merge_gradients(const Tensor& of) { gradients_[&of].resize(1); }

  // Gives every tensor its memory. @throws std::bad_alloc
  void place();
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

}  // namespace chexbench::engine

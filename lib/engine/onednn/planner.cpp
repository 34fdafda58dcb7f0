#include "engine/onednn/planner.hpp"

#include <algorithm>

namespace chexbench::engine {
namespace {

// Tensors begin at different places within a page, or all would compete for the same lines of a cache.
constexpr std::size_t kSpacingBytes = 4096 + 256;
constexpr std::size_t kAlignBytes = 256;

dnnl::memory::format_tag tag(Layout layout, int block) {
  using Tag = dnnl::memory::format_tag;
  if (layout == Layout::nchw) return Tag::nchw;
  return block == 16 ? Tag::nChw16c : Tag::nChw8c;
}

bool meet(const Tensor& a, const Tensor& b) { return a.first_use <= b.last_use && b.first_use <= a.last_use; }

// The lowest offset at which `tensor` meets none of `placed` in time and space. `placed` is sorted by offset.
std::size_t lowest_offset(const Tensor& tensor, const std::vector<const Tensor*>& placed) {
  std::size_t offset = 0;
  for (const Tensor* other : placed) {
    if (!meet(tensor, *other)) continue;
    if (offset + tensor.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

}  // namespace

View Tensor::view(int first_channel) const {
  const std::int64_t element_bytes = type == ElementType::bf16 ? 2 : 4;
  View result;
  result.pixel_stride = block;
  result.block_stride = std::int64_t{block} * shape.pixels();
  result.image_stride = result.block_stride * blocks();
  result.data = data + first_channel / block * result.block_stride * element_bytes;
  return result;
}

Tensor& Planner::tensor(const TensorShape& shape, Layout layout, ElementType type) {
  Tensor& added = tensors_.emplace_back();
  added.shape = shape;
  added.layout = layout;
  added.type = type;
  added.block = device_.block;
  const auto data_type = type == ElementType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
  if (layout == Layout::flat) {
    added.desc = {{shape.images, shape.channels}, data_type, dnnl::memory::format_tag::nc};
  } else {
    added.desc = {{shape.images, shape.channels, shape.height, shape.width}, data_type, tag(layout, added.block)};
  }
  resize(added, added.desc.get_size());
  return added;
}

Tensor& Planner::bytes(std::size_t count) {
  Tensor& added = tensors_.emplace_back();
  added.block = device_.block;
  resize(added, count);
  return added;
}

void Planner::resize(Tensor& tensor, std::size_t bytes) {
  tensor.bytes = (bytes + kSpacingBytes - 1) / kAlignBytes * kAlignBytes;
}

void Planner::use(Tensor& tensor) {
  if (tensor.first_use < 0) tensor.first_use = time_;
  tensor.last_use = time_;
}

void Planner::place() {
  std::vector<Tensor*> by_size;
  for (Tensor& tensor : tensors_) {
    if (tensor.first_use >= 0) by_size.push_back(&tensor);
  }
  std::stable_sort(by_size.begin(), by_size.end(), [](auto* a, auto* b) { return a->bytes > b->bytes; });
  std::vector<const Tensor*> placed;
  for (Tensor* tensor : by_size) {
    tensor->offset = lowest_offset(*tensor, placed);
    arena_bytes_ = std::max(arena_bytes_, tensor->offset + tensor->bytes);
    const auto after = std::upper_bound(placed.begin(), placed.end(), tensor->offset,
                                        [](std::size_t offset, auto* other) { return offset < other->offset; });
    placed.insert(after, tensor);
  }
  arena_ = {host_allocator().allocate(arena_bytes_), Release{arena_bytes_}};
  for (Tensor* tensor : by_size) tensor->data = arena_.get() + tensor->offset;
}

}  // namespace chexbench::engine

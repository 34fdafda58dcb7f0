#include "engine/onednn/planner.hpp"

#include "engine/arena.hpp"

namespace chexbench::engine::onednn {
namespace {

// Space between tensors: they start at different offsets within a page, or equal positions in all of them would compete
// for the same cache sets.
constexpr std::size_t kSpacingBytes = 4096 + 256;
constexpr std::size_t kAlignBytes = 256;

dnnl::memory::format_tag tag(Layout layout, int block) {
  using Tag = dnnl::memory::format_tag;
  if (layout == Layout::nchw) return Tag::nchw;
  if (layout == Layout::channels_last) return Tag::nhwc;
  return block == 16 ? Tag::nChw16c : Tag::nChw8c;
}

}  // namespace

View Tensor::view(int first_channel) const {
  const auto element_bytes = static_cast<std::int64_t>(bytes_of(type));
  View result;
  if (layout == Layout::blocked) {
    result.pixel_stride = block;
    result.block_stride = std::int64_t{block} * shape.pixels();
    result.image_stride = result.block_stride * blocks();
  } else {
    result.pixel_stride = shape.channels;
    result.block_stride = block;
    result.image_stride = std::int64_t{shape.channels} * shape.pixels();
  }
  result.data = data + first_channel / block * result.block_stride * element_bytes;
  return result;
}

Tensor& Planner::tensor(const TensorShape& shape, Layout layout, FloatType type) {
  Tensor& added = tensors_.emplace_back();
  added.shape = shape;
  added.layout = layout;
  added.type = type;
  added.block = device_.block;
  const auto data_type = type == FloatType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
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
  std::vector<Tensor*> used;
  std::vector<Lifetime> lifetimes;
  for (Tensor& tensor : tensors_) {
    if (tensor.first_use < 0) continue;
    used.push_back(&tensor);
    lifetimes.push_back({tensor.bytes, tensor.first_use, tensor.last_use});
  }
  const ArenaPlan plan = plan_arena(lifetimes);
  arena_bytes_ = plan.bytes;
  arena_ = {host_allocator().allocate(arena_bytes_), Release{arena_bytes_}};
  for (std::size_t i = 0; i < used.size(); ++i) used[i]->data = arena_.get() + plan.offsets[i];
}

}  // namespace chexbench::engine::onednn

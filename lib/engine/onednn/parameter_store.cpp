#include "engine/onednn/parameter_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/allocator.hpp"
#include "core/errors.hpp"
#include "engine/checks.hpp"
#include "engine/onednn/device.hpp"
#include "engine/onednn/primitive_descs.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr std::size_t kAlignElements = 16;  // 64 bytes

// Returns a row-major layout of the slot's dimensions, which for a convolution with groups are one more than PyTorch's:
// oneDNN has a dimension for the groups.
dnnl::memory::desc plain(const dnnl::memory::dims& dims) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return {dims, dnnl::memory::data_type::f32, strides};
}

}  // namespace

FloatArray::FloatArray(std::size_t count)
    : count_(count),
      memory_(reinterpret_cast<float*>(host_allocator().allocate(count * sizeof(float))),
              Release{count * sizeof(float)}) {
  std::memset(memory_.get(), 0, count * sizeof(float));
}

void FloatArray::Release::operator()(float* memory) const {
  host_allocator().deallocate(reinterpret_cast<std::byte*>(memory), bytes);
}

ParameterSlot& ParameterStore::add(const model::TensorInfo& info, const dnnl::memory::desc& desc) {
  auto slot = std::make_unique<ParameterSlot>();
  slot->info = info;
  slot->desc = desc;
  slot->offset = count_;
  slot->count = (desc.get_size() / sizeof(float) + kAlignElements - 1) / kAlignElements * kAlignElements;
  count_ += slot->count;
  return *slots_.emplace_back(std::move(slot));
}

ParameterSlot& ParameterStore::add_vector(const model::TensorInfo& info) { return add(info, plain(info.shape)); }

void ParameterStore::allocate(std::size_t trained) {
  weights_ = FloatArray(count_);
  gradients_ = FloatArray(trained);
  for (const auto& slot : slots_) {
    slot->weights = weights_.data() + slot->offset;
    if (slot->offset < trained) slot->gradient = gradients_.data() + slot->offset;
  }
}

const ParameterSlot& ParameterStore::slot(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& slot : slots_) {
    if (slot->info.name == name) return *slot;
    names.push_back(slot->info.name);
  }
  throw SpecError("no parameter '" + name + "'" + suggestion(name, names));
}

void ParameterStore::reorder(const dnnl::memory::desc& from, void* source, const dnnl::memory::desc& to,
                             void* destination) const {
  with_headroom([&] {
    dnnl::memory in(from, device_.engine, source);
    dnnl::memory out(to, device_.engine, destination);
    dnnl::reorder(in, out).execute(device_.stream, in, out);
  });
}

void ParameterStore::load(const ParameterSlot& slot, float* to, std::span<const float> values) const {
  check_size(slot.info, values.size());
  // oneDNN only reads the source of a reorder, but its interface takes no pointer to const.
  reorder(plain(dims_of(slot.desc)), const_cast<float*>(values.data()), slot.desc, to);
}

void ParameterStore::read(const ParameterSlot& slot, float* from, std::span<float> values) const {
  check_size(slot.info, values.size());
  reorder(slot.desc, from, plain(dims_of(slot.desc)), values.data());
}

}  // namespace chexbench::engine::onednn

#include "verbs/comm/comm_memory.hpp"

#include <algorithm>

#include "comm/device_copies.hpp"
#include "core/half.hpp"

namespace chexbench::verbs {
namespace {

class HostMemory final : public GradientMemory {
 public:
  explicit HostMemory(std::size_t bytes) : values_(bytes / sizeof(float)) {}
  GradientType type() const override { return GradientType::f32; }
  BucketSpan bucket(std::size_t values) override { return {.data = values_.data(), .count = values}; }
  ReadyEvent written() override { return nullptr; }
  void write(std::span<const float> values) override { std::ranges::copy(values, values_.begin()); }
  void read(std::span<float> values) override { std::copy_n(values_.begin(), values.size(), values.begin()); }

 private:
  std::vector<float> values_;
};

class GpuMemory final : public GradientMemory {
 public:
  GpuMemory(std::size_t bytes, GradientType type, int gpu)
      : type_(type), copies_(comm::make_device_copies(gpu)), data_(copies_->device_buffer(bytes)) {}
  GradientType type() const override { return type_; }
  BucketSpan bucket(std::size_t values) override { return {.data = data_, .count = values, .type = type_}; }
  ReadyEvent written() override { return copies_->copied(); }
  void write(std::span<const float> values) override {
    if (type_ == GradientType::f32) return copies_->to_device(std::as_bytes(values), data_);
    std::vector<Half> halves(values.size());
    narrow(values, std::span(halves));
    copies_->to_device(std::as_bytes(std::span(halves)), data_);
  }
  void read(std::span<float> values) override {
    if (type_ == GradientType::f32) return copies_->to_host(data_, std::as_writable_bytes(values));
    std::vector<Half> halves(values.size());
    copies_->to_host(data_, std::as_writable_bytes(std::span(halves)));
    widen(std::span<const Half>(halves), values);
  }

 private:
  const GradientType type_;
  const std::unique_ptr<comm::DeviceCopies> copies_;
  void* const data_;
};

}  // namespace

std::unique_ptr<GradientMemory> make_host_memory(std::size_t bytes) { return std::make_unique<HostMemory>(bytes); }

std::unique_ptr<GradientMemory> make_gpu_memory(std::size_t bytes, GradientType type, int gpu) {
  return std::make_unique<GpuMemory>(bytes, type, gpu);
}

}  // namespace chexbench::verbs

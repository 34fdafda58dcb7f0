// What engines without arithmetic have in common: no tensors, batches in plain host memory.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace chexbench::engine {

class TensorlessEngine : public Engine {
 public:
  PinnedAllocator& allocator() override { return host_allocator(); }
  std::vector<TensorInfo> parameters() const override { return {}; }
  std::vector<TensorInfo> buffers() const override { return {}; }
  // There is nothing to load: any source fits.
  void load_weights(const WeightSource&) override {}
  // @throws DeviceError: there are no tensors
  void read_parameter(const std::string& name, std::span<float> values) const override;
  void read_gradient(const std::string& name, std::span<float> values) const override;
  void read_buffer(const std::string& name, std::span<float> values) const override;
  std::span<const float> logits() const override;

 private:
  [[noreturn]] void fail(const std::string& what) const;
};

}  // namespace chexbench::engine

// Base class of the engines without arithmetic: they have no tensors, and their batches are in plain host memory.
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
  // Ignores the source, because there is nothing to load.
  void load_weights(const WeightSource&) override {}
  // @throws DeviceError always, because there are no tensors
  void read_parameter(const std::string& name, std::span<float> values) const override;
  void read_gradient(const std::string& name, std::span<float> values) const override;
  void read_buffer(const std::string& name, std::span<float> values) const override;
  std::span<const float> logits() const override;

 private:
  [[noreturn]] void fail(const std::string& what) const;
};

}  // namespace chexbench::engine

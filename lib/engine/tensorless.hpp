// Base class of the engines without arithmetic: they have no tensors, and their batches are in plain host memory.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/errors.hpp"
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
  void read_parameter(const std::string& name, std::span<float>) const override { fail("parameter " + name); }
  void read_gradient(const std::string& name, std::span<float>) const override { fail("gradient " + name); }
  void read_buffer(const std::string& name, std::span<float>) const override { fail("buffer " + name); }
  std::span<const float> logits() const override { fail("logits"); }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DeviceError(fmt::format(
        "engine '{}' computes nothing, so it has no {}; use an engine that trains, e.g. onednn", traits().name, what));
  }
};

}  // namespace chexbench::engine

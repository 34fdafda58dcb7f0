#include "engine/tensorless.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"

namespace chexbench::engine {

void TensorlessEngine::read_parameter(const std::string& name, std::span<float>) const { fail("parameter " + name); }
void TensorlessEngine::read_gradient(const std::string& name, std::span<float>) const { fail("gradient " + name); }
void TensorlessEngine::read_buffer(const std::string& name, std::span<float>) const { fail("buffer " + name); }
std::span<const float> TensorlessEngine::logits() const { fail("logits"); }

void TensorlessEngine::fail(const std::string& what) const {
  throw DeviceError(fmt::format("engine '{}' computes nothing, so it has no {}; use an engine that trains, e.g. onednn",
                                traits().name, what));
}

}  // namespace chexbench::engine

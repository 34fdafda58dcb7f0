#include "engine/cuda/convolution/plan_request.hpp"

#include <fmt/format.h>

namespace chexbench::engine::cuda {

std::string PlanRequest::text() const {
  return fmt::format("{} of {} in {}", to_string(pattern), shape.text(), spec::to_string(precision));
}

}  // namespace chexbench::engine::cuda

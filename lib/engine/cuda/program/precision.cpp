#include "engine/cuda/program/precision.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"

namespace chexbench::engine::cuda {
namespace {

// NVIDIA's CUDA programming guide, "Compute capabilities": tensor cores support fp16 since Volta, tf32 and bf16 since
// Ampere.
constexpr int kVolta = 70, kAmpere = 80;

int needed(spec::Precision precision) {
  if (precision == spec::Precision::f32) return 0;
  return precision == spec::Precision::fp16 ? kVolta : kAmpere;
}

}  // namespace

void check_precision(spec::Precision precision, int compute_capability, const std::string& device) {
  if (compute_capability >= needed(precision)) return;
  throw DeviceError(fmt::format(
      "engine 'cuda': {} has no {}: it has compute capability {}.{}, {} begins with {}.{}; use {}", device,
      spec::to_string(precision), compute_capability / 10, compute_capability % 10, spec::to_string(precision),
      needed(precision) / 10, needed(precision) % 10, compute_capability >= kVolta ? "f32 or fp16" : "f32"));
}

}  // namespace chexbench::engine::cuda

#include "engine/cuda/training/accumulation.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr auto kKinds = {ParameterKind::matrix, ParameterKind::vector};

}  // namespace

kernels::AccumulateCall Accumulation::call(ParameterKind kind, std::size_t begin, std::size_t count) const {
  const ParameterRegions& regions = addresses_.config().plan.regions.parameters[static_cast<std::size_t>(kind)];
  const FloatType type = kind == ParameterKind::matrix ? addresses_.type() : FloatType::f32;
  return {.type = type,
          .count = static_cast<std::int64_t>(count),
          .gradient = addresses_.at(regions.gradients, begin * bytes_of(type)),
          .sum = addresses_.at<float>(regions.sums, begin)};
}

void Accumulation::add(bool begins, Stream stream) const {
  for (const ParameterKind kind : kKinds)
    kernels::launch_accumulate(call(kind, 0, addresses_.config().parameters.trained(kind)), begins, stream);
}

void Accumulation::average(ParameterKind kind, std::size_t begin, std::size_t count, Stream stream) const {
  if (batches() > 1) kernels::launch_average(call(kind, begin, count), batches(), stream);
}

void Accumulation::average_all(Stream stream) const {
  for (const ParameterKind kind : kKinds) average(kind, 0, addresses_.config().parameters.trained(kind), stream);
}

}  // namespace chexbench::engine::cuda

#include "engine/cuda/convolution/convolutions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>

#include "core/log.hpp"
#include "engine/cuda/convolution/conv_tuner.hpp"

namespace chexbench::engine::cuda {
namespace {

// The patterns that are planned, in this order. A fused pattern comes after those with which it is compared.
constexpr std::array kPlanned{ConvPattern::forward,
                              ConvPattern::forward_statistics,
                              ConvPattern::data_gradient,
                              ConvPattern::data_gradient_norm,
                              ConvPattern::joined_forward_statistics,
                              ConvPattern::joined_norms_forward_statistics,
                              ConvPattern::data_gradient_join,
                              ConvPattern::data_gradient_join_norms,
                              ConvPattern::weight_gradient,
                              ConvPattern::normalized_forward_statistics};

// A deterministic step computes the sums in our own kernels, which fix the order of the additions.
bool may_fuse(const ConvolutionsConfig& config) { return config.fused && !config.deterministic; }

// Whether a convolution of that shape may run `pattern`, if that is faster.
bool may_run(ConvPattern pattern, const ConvShape& shape, const ConvolutionsConfig& config) {
  if (!wanted(pattern, shape, config.precision)) return false;
  if (!is_fused(pattern)) return true;
  if (!may_fuse(config)) return false;
  if (is_join(pattern)) return config.behind_joins.has(pattern, shape);
  return parts_of(pattern).before == ConvBefore::nothing || std::ranges::count(config.behind_norms, shape) > 0;
}

ShapePlans plans_of(const ConvShape& shape, const ConvolutionsConfig& config, ConvTuner& tuner) {
  ShapePlans plans({.shape = shape,
                    .precision = config.precision,
                    .workspace_limit_bytes = config.workspace_limit_bytes,
                    .deterministic = config.deterministic});
  for (const ConvPattern pattern : kPlanned) {
    if (!may_run(pattern, shape, config)) continue;
    if (is_fused(pattern)) {
      tuner.add_if_faster(pattern, plans);
    } else {
      plans.add(pattern, tuner.fastest(plans.request(pattern)));
    }
  }
  return plans;
}

// cuDNN's interface has no const pointers.
void* readable(const void* data) { return const_cast<void*>(data); }

// Adds the operands of a norm whose backward is computed.
void add_norm(const NormRoles& roles, const NormBefore& norm, std::vector<OperandMemory>& memory) {
  memory.push_back({roles.x, readable(norm.x)});
  memory.push_back({roles.mean, readable(norm.mean)});
  memory.push_back({roles.inverse_deviation, readable(norm.inverse_deviation)});
  memory.push_back({roles.scale, readable(norm.weight)});
  memory.push_back({roles.bias, readable(norm.bias)});
  const std::array results{norm.weight_gradient, norm.bias_gradient, norm.scratch, norm.b, norm.c};
  for (std::size_t i = 0; i < results.size(); ++i) memory.push_back({roles.results[i], results[i]});
}

// Adds the scale and shift of a norm that forward computes.
void add_affine(const NormRoles& roles, const Prologue& norm, std::vector<OperandMemory>& memory) {
  memory.push_back({roles.scale, readable(norm.scale)});
  memory.push_back({roles.bias, readable(norm.shift)});
}

void add_sums(const OutputSums& sums, std::vector<OperandMemory>& memory) {
  memory.push_back({OperandRole::sum, sums.sum});
  memory.push_back({OperandRole::sum_of_squares, sums.sum_of_squares});
}

void report(const TuningCounts& counts, const std::string& cache_file) {
  log::info("convolutions: {} timings known{}, {} made in {:.1f} s", counts.cached,
            cache_file.empty() ? "" : fmt::format(" from {}", cache_file), counts.timed, counts.timing_s);
  if (counts.hurried > 0)
    log::warning("convolutions: {} were chosen without comparing many plans, and may be slower than necessary",
                 counts.hurried);
  if (counts.without_fused == 0) return;  // one warning: if a GPU has no such plan at all, every shape lacks it
  log::warning("convolutions: {} fused plans do not run here, so separate passes replace them; the first: {}",
               counts.without_fused, counts.fused_error);
}

}  // namespace

struct Convolutions::Impl {
  std::vector<ShapePlans> plans;

  Impl(const std::vector<ConvShape>& shapes, const ConvolutionsConfig& config, const ConvDevice& device) {
    PlanCache cache(config.cache_file);
    ConvTuner tuner(device, cache, config.tuning);
    try {
      for (const ConvShape& shape : shapes) {
        if (find(shape) == plans.end()) add(shape, config, tuner);
        cache.save();  // each time, because timing takes minutes in which the process may be killed
      }
    } catch (...) {  // timings from before the error are worth keeping
      cache.save();
      throw;
    }
    report(tuner.counts(), config.cache_file);
  }

  // Plans the shape, and keeps the plans of its packed shape, too, if they are faster.
  void add(const ConvShape& shape, const ConvolutionsConfig& config, ConvTuner& tuner) {
    plans.push_back(plans_of(shape, config, tuner));
    if (!may_fuse(config) || std::ranges::count(config.in_blocks, shape) == 0) return;
    ShapePlans own = plans_of(with_packed_output(shape), config, tuner);
    plans.back().packs = tuner.packs(plans.back(), own);
    if (plans.back().packs) plans.push_back(std::move(own));
  }

  std::vector<ShapePlans>::const_iterator find(const ConvShape& shape) const {
    return std::ranges::find(plans, shape, &ShapePlans::shape);
  }
  const ShapePlans& of(const ConvShape& shape) const {
    const auto found = find(shape);
    if (found == plans.end()) throw std::logic_error("convolutions: nothing was planned for " + shape.text());
    return *found;
  }

  void run(const ConvShape& shape, ConvPattern pattern, const std::vector<OperandMemory>& memory, void* workspace,
           kernels::Stream stream) const {
    const TunedPlan* const tuned = of(shape).find(pattern);
    if (tuned == nullptr)
      throw std::logic_error(fmt::format("convolutions: no {} was planned for {}", to_string(pattern), shape.text()));
    tuned->candidates->run(tuned->index, memory, workspace, stream);
  }

  // Returns the bytes of the largest workspace of a plan whose pattern is counted.
  std::size_t workspace_bytes(const std::function<bool(ConvPattern)>& counts) const {
    std::int64_t most_bytes = 0;
    for (const ShapePlans& of_shape : plans) {
      for (const ConvPattern pattern : conv_patterns()) {
        const TunedPlan* const tuned = counts(pattern) ? of_shape.find(pattern) : nullptr;
        if (tuned != nullptr) most_bytes = std::max(most_bytes, tuned->plan.workspace_bytes);
      }
    }
    return static_cast<std::size_t>(most_bytes);
  }
};

Convolutions::Convolutions(const std::vector<ConvShape>& shapes, const ConvolutionsConfig& config,
                           const ConvDevice& device)
    : impl_(std::make_unique<Impl>(shapes, config, device)) {}

Convolutions::~Convolutions() = default;

std::size_t Convolutions::workspace_bytes() const {
  return impl_->workspace_bytes([](ConvPattern) { return true; });
}

std::size_t Convolutions::weight_gradient_workspace_bytes() const {
  return impl_->workspace_bytes(
      [](ConvPattern pattern) { return parts_of(pattern).pass == ConvPass::weight_gradient; });
}

bool Convolutions::has(const ConvShape& shape, ConvPattern pattern) const {
  return impl_->of(shape).find(pattern) != nullptr;
}

bool Convolutions::packs(const ConvShape& shape) const { return impl_->of(shape).packs; }

void Convolutions::forward(const ConvShape& shape, const void* x, const void* weight, void* y, const OutputSums& sums,
                           const Prologue& prologue, kernels::Stream stream) {
  std::vector<OperandMemory> memory{
      {OperandRole::x, readable(x)}, {OperandRole::w, readable(weight)}, {OperandRole::y, y}};
  ConvPattern pattern = ConvPattern::forward;
  if (prologue.scale != nullptr) {
    add_affine(kNormRoles, prologue, memory);
    pattern = ConvPattern::normalized_forward_statistics;
  } else if (sums.sum != nullptr && has(shape, ConvPattern::forward_statistics)) {
    pattern = ConvPattern::forward_statistics;
  }
  if (pattern != ConvPattern::forward) add_sums(sums, memory);
  impl_->run(shape, pattern, memory, workspace_, stream);
}

void Convolutions::joined_forward(const ConvShape& shape, const JoinPrologue& join, const void* weight, void* y,
                                  const OutputSums& sums, kernels::Stream stream) {
  std::vector<OperandMemory> memory{{OperandRole::x, readable(join.x)},
                                    {OperandRole::w, readable(weight)},
                                    {OperandRole::y, y},
                                    {OperandRole::joined, join.joined}};
  add_sums(sums, memory);
  add_affine(kNormRoles, join.norm, memory);
  ConvPattern pattern = ConvPattern::joined_forward_statistics;
  if (join.residual == nullptr) {
    memory.push_back({OperandRole::residual_x, readable(join.residual_x)});
    add_affine(kResidualNormRoles, join.residual_norm, memory);
    pattern = ConvPattern::joined_norms_forward_statistics;
  } else {
    memory.push_back({OperandRole::residual, readable(join.residual)});
  }
  impl_->run(shape, pattern, memory, workspace_, stream);
}

void Convolutions::data_gradient(const ConvShape& shape, const void* dy, const void* weight, void* dx,
                                 const NormBefore& norm, kernels::Stream stream) {
  std::vector<OperandMemory> memory{
      {OperandRole::dy, readable(dy)}, {OperandRole::w, readable(weight)}, {OperandRole::dx, dx}};
  ConvPattern pattern = ConvPattern::data_gradient;
  if (norm.x != nullptr) {
    add_norm(kNormRoles, norm, memory);
    pattern = ConvPattern::data_gradient_norm;
  }
  impl_->run(shape, pattern, memory, workspace_, stream);
}

void Convolutions::data_gradient_join(const ConvShape& shape, const void* dy, const void* weight, void* dx,
                                      const JoinBefore& join, kernels::Stream stream) {
  std::vector<OperandMemory> memory{{OperandRole::dy, readable(dy)},
                                    {OperandRole::w, readable(weight)},
                                    {OperandRole::dx, dx},
                                    {OperandRole::other_gradient, readable(join.other_gradient)}};
  add_norm(kNormRoles, join.norm, memory);
  ConvPattern pattern = ConvPattern::data_gradient_join;
  if (join.residual == nullptr) {
    add_norm(kResidualNormRoles, join.residual_norm, memory);
    pattern = ConvPattern::data_gradient_join_norms;
  } else {
    memory.push_back({OperandRole::residual, readable(join.residual)});
  }
  impl_->run(shape, pattern, memory, workspace_, stream);
}

void Convolutions::weight_gradient(const ConvShape& shape, const void* x, const void* dy, void* dweight,
                                   const Prologue& prologue, kernels::Stream stream) {
  std::vector<OperandMemory> memory{
      {OperandRole::x, readable(x)}, {OperandRole::dy, readable(dy)}, {OperandRole::dw, dweight}};
  ConvPattern pattern = ConvPattern::weight_gradient;
  if (prologue.scale != nullptr) {
    add_affine(kNormRoles, prologue, memory);
    pattern = ConvPattern::normalized_weight_gradient;
  }
  impl_->run(shape, pattern, memory, weight_gradient_workspace_, stream);
}

}  // namespace chexbench::engine::cuda

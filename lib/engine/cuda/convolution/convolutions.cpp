#include "engine/cuda/convolution/convolutions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "core/log.hpp"
#include "engine/cuda/convolution/conv_tuner.hpp"

namespace chexbench::engine::cuda {
namespace {

// All plans of one shape.
struct ShapePlans {
  ConvShape shape;
  TunedPlan forward;  // also used if no sums are asked for
  std::optional<TunedPlan> forward_and_sums;
  std::optional<TunedPlan> data_gradient;
  std::optional<TunedPlan> data_gradient_norm;
  std::optional<TunedPlan> data_gradient_join;
  std::optional<TunedPlan> data_gradient_join_norms;
  std::optional<TunedPlan> joined_forward;
  std::optional<TunedPlan> joined_norms_forward;
  TunedPlan weight_gradient;
  std::optional<ProloguePlans> behind_norm;
  bool packs = false;  // its packed shape is used in its place

  // Calls use(plan) for each plan that exists.
  template <typename Use>
  void each(const Use& use) const {
    use(forward);
    if (forward_and_sums) use(*forward_and_sums);
    for (const auto* plan : {&data_gradient, &data_gradient_norm, &data_gradient_join, &data_gradient_join_norms,
                             &joined_forward, &joined_norms_forward}) {
      if (*plan) use(**plan);
    }
    use(weight_gradient);
    if (!behind_norm) return;
    use(behind_norm->forward);
    use(behind_norm->weight_gradient);
  }
};

PlanRequest request_for(const ConvShape& shape, ConvPattern pattern, const ConvolutionsConfig& config) {
  return {.pattern = pattern,
          .shape = shape,
          .precision = config.precision,
          .workspace_limit_bytes = config.workspace_limit_bytes,
          .deterministic = config.deterministic};
}

// A deterministic step computes the sums in our own kernels, which fix the order of the additions.
bool may_fuse(const ConvolutionsConfig& config) { return config.fused && !config.deterministic; }

ShapePlans plans_of(const ConvShape& shape, const ConvolutionsConfig& config, ConvTuner& tuner) {
  const auto request = [&](ConvPattern pattern) { return request_for(shape, pattern, config); };
  const bool fuses = may_fuse(config);
  const bool behind_norm = fuses && std::ranges::count(config.behind_norms, shape) > 0;
  const auto is_wanted = [&](ConvPattern pattern) { return wanted(pattern, shape, config.precision); };
  ShapePlans plans{.shape = shape};
  plans.forward = tuner.fastest(request(ConvPattern::forward));
  if (fuses && is_wanted(ConvPattern::forward_statistics))
    plans.forward_and_sums = tuner.forward_statistics(request(ConvPattern::forward), plans.forward);
  if (is_wanted(ConvPattern::data_gradient)) plans.data_gradient = tuner.fastest(request(ConvPattern::data_gradient));
  if (behind_norm && is_wanted(ConvPattern::data_gradient_norm))
    plans.data_gradient_norm = tuner.norm_before(request(ConvPattern::data_gradient), *plans.data_gradient);
  const auto takes_join = [&](ConvPattern pattern) {
    return fuses && config.behind_joins.has(pattern, shape) && is_wanted(pattern);
  };
  const TunedPlan& forward = plans.forward_and_sums ? *plans.forward_and_sums : plans.forward;
  const bool gives_sums = plans.forward_and_sums.has_value();
  if (takes_join(ConvPattern::joined_forward_statistics))
    plans.joined_forward = tuner.joined_forward(request(ConvPattern::forward), forward, gives_sums);
  if (takes_join(ConvPattern::joined_norms_forward_statistics))
    plans.joined_norms_forward =
        tuner.joined_norms_forward(request(ConvPattern::forward), forward, gives_sums, plans.joined_forward);
  if (takes_join(ConvPattern::data_gradient_join))
    plans.data_gradient_join = tuner.join(request(ConvPattern::data_gradient), *plans.data_gradient);
  if (takes_join(ConvPattern::data_gradient_join_norms))
    plans.data_gradient_join_norms =
        tuner.join_norms(request(ConvPattern::data_gradient), *plans.data_gradient, plans.data_gradient_join);
  plans.weight_gradient = tuner.fastest(request(ConvPattern::weight_gradient));
  if (behind_norm && is_wanted(ConvPattern::normalized_forward_statistics))
    plans.behind_norm = tuner.prologue(request(ConvPattern::forward), forward, gives_sums, plans.weight_gradient);
  return plans;
}

ChosenPlans chosen(const ShapePlans& plans, const ConvolutionsConfig& config) {
  return {.request = request_for(plans.shape, ConvPattern::forward, config),
          .forward = plans.forward_and_sums ? &*plans.forward_and_sums : &plans.forward,
          .gives_sums = plans.forward_and_sums.has_value(),
          .data_gradient = &plans.data_gradient.value(),
          .data_gradient_norm = plans.data_gradient_norm ? &*plans.data_gradient_norm : nullptr,
          .weight_gradient = &plans.weight_gradient,
          .prologue = plans.behind_norm ? &*plans.behind_norm : nullptr};
}

// cuDNN's interface has no const pointers.
void* readable(const void* data) { return const_cast<void*>(data); }

// Returns whether there is a prologue, and if so adds its operands.
bool add_prologue(const ShapePlans& plans, const Prologue& prologue, std::vector<OperandMemory>& memory) {
  if (prologue.scale == nullptr) return false;
  if (!plans.behind_norm) throw std::logic_error("convolutions: no prologue was planned for " + plans.shape.text());
  memory.push_back({OperandRole::scale, readable(prologue.scale)});
  memory.push_back({OperandRole::bias, readable(prologue.shift)});
  return true;
}

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

// Adds the operands of a norm that forward computes.
void add_affine(const NormRoles& roles, const void* x, const Prologue& norm, std::vector<OperandMemory>& memory) {
  memory.push_back({roles.x, readable(x)});
  memory.push_back({roles.scale, readable(norm.scale)});
  memory.push_back({roles.bias, readable(norm.shift)});
}

// Returns the plan of a pass, `what` for people.
const TunedPlan& planned(const std::optional<TunedPlan>& plan, const ConvShape& shape, const char* what) {
  if (!plan) throw std::logic_error(fmt::format("convolutions: no {} was planned for {}", what, shape.text()));
  return *plan;
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
    plans.back().packs = tuner.packs(chosen(plans.back(), config), chosen(own, config));
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
};

Convolutions::Convolutions(const std::vector<ConvShape>& shapes, const ConvolutionsConfig& config,
                           const ConvDevice& device)
    : impl_(std::make_unique<Impl>(shapes, config, device)) {}

Convolutions::~Convolutions() = default;

std::size_t Convolutions::workspace_bytes() const {
  std::int64_t most_bytes = 0;
  for (const ShapePlans& plans : impl_->plans)
    plans.each([&](const TunedPlan& tuned) { most_bytes = std::max(most_bytes, tuned.plan.workspace_bytes); });
  return static_cast<std::size_t>(most_bytes);
}

std::size_t Convolutions::weight_gradient_workspace_bytes() const {
  std::int64_t most_bytes = 0;
  for (const ShapePlans& plans : impl_->plans) {
    most_bytes = std::max(most_bytes, plans.weight_gradient.plan.workspace_bytes);
    if (plans.behind_norm) most_bytes = std::max(most_bytes, plans.behind_norm->weight_gradient.plan.workspace_bytes);
  }
  return static_cast<std::size_t>(most_bytes);
}

bool Convolutions::gives_sums(const ConvShape& shape) const { return impl_->of(shape).forward_and_sums.has_value(); }

bool Convolutions::takes_prologue(const ConvShape& shape) const { return impl_->of(shape).behind_norm.has_value(); }

bool Convolutions::takes_norm_before(const ConvShape& shape) const {
  return impl_->of(shape).data_gradient_norm.has_value();
}

bool Convolutions::packs(const ConvShape& shape) const { return impl_->of(shape).packs; }

bool Convolutions::takes_forward_join(const ConvShape& shape) const {
  return impl_->of(shape).joined_forward.has_value();
}

bool Convolutions::takes_forward_join_of_norms(const ConvShape& shape) const {
  return impl_->of(shape).joined_norms_forward.has_value();
}

bool Convolutions::takes_join(const ConvShape& shape) const { return impl_->of(shape).data_gradient_join.has_value(); }

bool Convolutions::takes_join_of_norms(const ConvShape& shape) const {
  return impl_->of(shape).data_gradient_join_norms.has_value();
}

void Convolutions::forward(const ConvShape& shape, const void* x, const void* weight, void* y, const OutputSums& sums,
                           const Prologue& prologue, kernels::Stream stream) {
  const ShapePlans& plans = impl_->of(shape);
  std::vector<OperandMemory> memory{
      {OperandRole::x, readable(x)}, {OperandRole::w, readable(weight)}, {OperandRole::y, y}};
  const bool normalizes = add_prologue(plans, prologue, memory);
  const bool fused = normalizes || (plans.forward_and_sums && sums.sum != nullptr);
  if (fused) {
    memory.push_back({OperandRole::sum, sums.sum});
    memory.push_back({OperandRole::sum_of_squares, sums.sum_of_squares});
  }
  const TunedPlan& tuned = normalizes ? plans.behind_norm->forward : fused ? *plans.forward_and_sums : plans.forward;
  tuned.candidates->run(tuned.index, memory, workspace_, stream);
}

void Convolutions::joined_forward(const ConvShape& shape, const JoinPrologue& join, const void* weight, void* y,
                                  const OutputSums& sums, kernels::Stream stream) {
  const ShapePlans& plans = impl_->of(shape);
  std::vector<OperandMemory> memory{{OperandRole::w, readable(weight)},
                                    {OperandRole::y, y},
                                    {OperandRole::joined, join.joined},
                                    {OperandRole::sum, sums.sum},
                                    {OperandRole::sum_of_squares, sums.sum_of_squares}};
  add_affine(kNormRoles, join.x, join.norm, memory);
  const bool of_norms = join.residual == nullptr;
  if (of_norms) {
    add_affine(kResidualNormRoles, join.residual_x, join.residual_norm, memory);
  } else {
    memory.push_back({OperandRole::residual, readable(join.residual)});
  }
  const TunedPlan& tuned = of_norms ? planned(plans.joined_norms_forward, shape, "forward pass with a join of norms")
                                    : planned(plans.joined_forward, shape, "forward pass with a join");
  tuned.candidates->run(tuned.index, memory, workspace_, stream);
}

void Convolutions::data_gradient(const ConvShape& shape, const void* dy, const void* weight, void* dx,
                                 const NormBefore& norm, kernels::Stream stream) {
  const ShapePlans& plans = impl_->of(shape);
  if (!plans.data_gradient) throw std::logic_error("convolutions: no gradient of the images, " + shape.text());
  std::vector<OperandMemory> memory{
      {OperandRole::dy, readable(dy)}, {OperandRole::w, readable(weight)}, {OperandRole::dx, dx}};
  if (norm.x != nullptr) add_norm(kNormRoles, norm, memory);
  const TunedPlan& tuned =
      norm.x != nullptr ? planned(plans.data_gradient_norm, shape, "data gradient with a norm") : *plans.data_gradient;
  tuned.candidates->run(tuned.index, memory, workspace_, stream);
}

void Convolutions::data_gradient_join(const ConvShape& shape, const void* dy, const void* weight, void* dx,
                                      const JoinBefore& join, kernels::Stream stream) {
  const ShapePlans& plans = impl_->of(shape);
  std::vector<OperandMemory> memory{{OperandRole::dy, readable(dy)},
                                    {OperandRole::w, readable(weight)},
                                    {OperandRole::dx, dx},
                                    {OperandRole::other_gradient, readable(join.other_gradient)}};
  add_norm(kNormRoles, join.norm, memory);
  const bool of_norms = join.residual == nullptr;
  if (of_norms) {
    add_norm(kResidualNormRoles, join.residual_norm, memory);
  } else {
    memory.push_back({OperandRole::residual, readable(join.residual)});
  }
  const TunedPlan& tuned =
      of_norms ? planned(plans.data_gradient_join_norms, shape, "data gradient with a join of two norms")
               : planned(plans.data_gradient_join, shape, "data gradient with a join");
  tuned.candidates->run(tuned.index, memory, workspace_, stream);
}

void Convolutions::weight_gradient(const ConvShape& shape, const void* x, const void* dy, void* dweight,
                                   const Prologue& prologue, kernels::Stream stream) {
  const ShapePlans& plans = impl_->of(shape);
  std::vector<OperandMemory> memory{
      {OperandRole::x, readable(x)}, {OperandRole::dy, readable(dy)}, {OperandRole::dw, dweight}};
  const bool normalizes = add_prologue(plans, prologue, memory);
  const TunedPlan& tuned = normalizes ? plans.behind_norm->weight_gradient : plans.weight_gradient;
  tuned.candidates->run(tuned.index, memory, weight_gradient_workspace_, stream);
}

}  // namespace chexbench::engine::cuda

// The two figures of a network, alpha (s a message) and beta (bytes/s a link), from what was measured. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/step_plan.hpp"
#include "verbs/comm/comm_result.hpp"

namespace chexbench::verbs {

// Fits T = 2 (n-1) alpha + 2 ((n-1)/n) S / beta to the rows' times by least squares of the logarithms of modelled /
// measured, so that 8 bytes count as much as 128 MB. Writes each row's fit_error.
// Empty where fewer than two rows are given, or times do not grow with bytes.
std::optional<LinkFit> fit_link(std::vector<CommRow>& rows);

// What a training on `ranks` ranks reached.
struct ScalingPoint {
  int ranks = 0;
  double images_per_s = 0;
};

struct ScalingFit {
  double alpha_s = 0;
  double beta_bytes_per_s = 0;
  double rms_error = 0;  // of the logarithms of modelled / measured
};

// The step of each of `ranks` ranks that take `plan`, communication overlapped with backward.
double overlapped_step_s(const engine::StepPlan& plan, int ranks, const spec::CommSpec& comm);

// Fits alpha and beta to trainings on several ranks, through the same model; launch_s stays that of `comm`. Whatever
// slows several ranks down is booked to the network: slow input and stragglers, too. `images_per_step` are those of a
// rank, of all of the plan's batches; `plan` must have buckets.
// @throws SpecError unless two points are on more than one rank
ScalingFit fit_scaling(const engine::StepPlan& plan, int images_per_step, std::span<const ScalingPoint> points,
                       const spec::CommSpec& comm);

}  // namespace chexbench::verbs

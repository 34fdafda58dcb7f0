// Fits the two parameters of a network, alpha (seconds per message) and beta (bytes/s of a link), to measurements. All
// functions are pure. See README.md for the accuracy of the fits.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/step_plan.hpp"
#include "verbs/comm/comm_result.hpp"

namespace chexbench::verbs {

// Fits T = 2 (n-1) alpha + 2 ((n-1)/n) S / beta to the rows' times by least squares of the logarithms of modelled /
// measured, so that 8 bytes count as much as 128 MB, and sets each row's fit_error. Returns std::nullopt, and leaves
// the rows unchanged, if there are fewer than two rows, or if bandwidth makes up less than a tenth of the largest
// size's time.
std::optional<LinkFit> fit_link(std::vector<CommRow>& rows);

// The rate of a training on `ranks` ranks.
struct ScalingPoint {
  int ranks = 0;
  double images_per_s = 0;
};

// The link that best explains the rates of trainings.
struct ScalingFit {
  double alpha_s = 0;
  double beta_bytes_per_s = 0;
  double rms_error = 0;  // root mean square of the logarithms of modelled / measured
};

// Returns the seconds of a step on each of `ranks` ranks that execute `plan`, if communication overlaps backward:
// compute + max(0, end of communication - one backward) + update.
double overlapped_step_s(const engine::StepPlan& plan, int ranks, const spec::CommSpec& comm);

// Fits alpha and beta to the rates of trainings on several ranks, with overlapped_step_s() as the model; launch_s comes
// from `comm`. The fit attributes everything that slows several ranks down to the network, including slow input and
// stragglers. `images_per_step` counts the images of one rank over all batches of the plan, which must have buckets.
// @throws SpecError if fewer than two different numbers of ranks above 1 are given
ScalingFit fit_scaling(const engine::StepPlan& plan, int images_per_step, std::span<const ScalingPoint> points,
                       const spec::CommSpec& comm);

}  // namespace chexbench::verbs

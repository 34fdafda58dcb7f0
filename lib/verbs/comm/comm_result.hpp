// The result of `chexbench comm`: how long it takes to average gradients over ranks, by size, in the terms of
// nccl-tests, with a fitted model of the links.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/step_plan.hpp"
#include "measure/statistics.hpp"
#include "report/text_table.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::verbs {

// The measurement of one size on one number of ranks.
struct CommRow {
  int ranks = 0;
  std::uint64_t bytes = 0;  // of the gradient on each rank
  int repeats = 0;
  int iterations = 0;  // consecutive averages in each repeat
  double time_s = 0;   // of one average on the slowest rank; median over repeats
  std::optional<measure::Interval> time_s_ci95;
  double fit_error = 0;  // fitted time / time_s - 1; 0 without a fit

  // The algorithm bandwidth: gradient bytes over time.
  double algbw_bytes_per_s() const { return static_cast<double>(bytes) / time_s; }
  // The bus bandwidth of each link: a ring sends every byte 2 (n-1)/n times (nccl-tests, doc/PERFORMANCE.md).
  double busbw_bytes_per_s() const { return algbw_bytes_per_s() * 2 * (ranks - 1) / ranks; }
};

// The parameters of the ring model T = 2 (n-1) alpha + 2 ((n-1)/n) S / beta for n ranks and S bytes. The fit minimizes
// relative errors, so that small sizes count as much as large ones.
struct LinkFit {
  double alpha_s = 0;           // latency of one message
  double beta_bytes_per_s = 0;  // bandwidth of one link
  double median_error = 0;      // of the rows' absolute relative errors
  double worst_error = 0;
  int min_ranks = 0;  // the fitted range of ranks and bytes: outside it the model is a guess
  int max_ranks = 0;
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = 0;
};

// All measurements of one run of `chexbench comm`.
struct CommResult {
  std::string date_utc;
  std::string library;  // "MPICH 4.0.2", "NCCL"
  std::string memory;   // "host", "GPU"
  std::string dtype;    // "f32", "fp16"
  spec::UpdateScheme update = spec::UpdateScheme::all_reduce;
  int hosts = 1;
  std::vector<CommRow> rows;
  std::optional<LinkFit> fit;  // empty if times do not grow with bytes, or the scheme is not a ring

  // Whether the formula of the fit applies, also to all_reduce: libraries use a ring for large sizes.
  bool is_ring() const { return update == spec::UpdateScheme::all_reduce || update == spec::UpdateScheme::ring; }
};

// Returns plain text for people: a row for each size and number of ranks, and the fit below. The table is at most
// `width` wide where possible.
std::string comm_table(const CommResult& result, const report::LineWidth& width = {});
// Returns one JSON object for programs, with units in its keys.
std::string comm_json(const CommResult& result);
// Returns CSV with a header and one line for each size and number of ranks.
std::string comm_csv(const CommResult& result);

// Returns the fit from a text that comm_json() wrote. Messages begin with `name`.
// @throws DataError if the text is not such an object, has no fit, or its alpha or beta is out of range
LinkFit link_fit_from_json(const std::string& text, const std::string& name);

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

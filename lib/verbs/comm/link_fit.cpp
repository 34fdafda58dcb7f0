#include "verbs/comm/link_fit.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/errors.hpp"
#include "measure/statistics.hpp"

namespace chexbench::verbs {
namespace {

constexpr double kSeenShare = 0.1;  // minimum share of transfer in the largest size's time to determine the bandwidth

struct Link {
  double alpha_s = 0;
  double beta_bytes_per_s = 0;
};

// Return the modelled seconds of one all-reduce: its transfer over a link alone, and together with the latencies.
double transfer_s(const CommRow& row, const Link& link) {
  return 2.0 * (row.ranks - 1) / row.ranks * static_cast<double>(row.bytes) / link.beta_bytes_per_s;
}
double ring_s(const CommRow& row, const Link& link) {
  return 2 * (row.ranks - 1) * link.alpha_s + transfer_s(row, link);
}

// Half and double are equally far from the measured value; a plain relative error would prefer values that are too low.
double squared_log_ratio(double modelled, double measured) {
  const double distance = std::log(modelled / measured);
  return distance * distance;
}

void describe_errors(std::vector<CommRow>& rows, LinkFit& fit) {
  std::vector<double> errors;
  for (CommRow& row : rows) {
    row.fit_error = ring_s(row, {.alpha_s = fit.alpha_s, .beta_bytes_per_s = fit.beta_bytes_per_s}) / row.time_s - 1;
    errors.push_back(std::abs(row.fit_error));
  }
  fit.median_error = measure::median(errors);
  fit.worst_error = std::ranges::max(errors);
}

// Returns the link with the smallest error(link). Searches a grid of logarithms, narrowing it around the best point:
// the overlap with backward makes the model a chain of maxima, on which gradient methods fail.
template <class Error>
Link search_link(Error error) {
  constexpr int kSteps = 16;
  const double five_orders = std::log(1e5);
  Link best{.alpha_s = 1e-5, .beta_bytes_per_s = 1e9};
  double best_error = error(best);
  for (double half_width = five_orders; half_width > 1e-6; half_width /= 2) {
    const Link center = best;
    for (int i = -kSteps; i <= kSteps; ++i) {
      for (int j = -kSteps; j <= kSteps; ++j) {
        const Link link{.alpha_s = center.alpha_s * std::exp(half_width * i / kSteps),
                        .beta_bytes_per_s = center.beta_bytes_per_s * std::exp(half_width * j / kSteps)};
        const double candidate_error = error(link);
        if (candidate_error >= best_error) continue;
        best_error = candidate_error;
        best = link;
      }
    }
  }
  const Link without_latency{.alpha_s = 0, .beta_bytes_per_s = best.beta_bytes_per_s};
  return error(without_latency) <= best_error * (1 + 1e-9) ? without_latency : best;
}

}  // namespace

std::optional<LinkFit> fit_link(std::vector<CommRow>& rows) {
  if (rows.size() < 2) return std::nullopt;
  const Link link = search_link([&rows](const Link& candidate) {
    double sum = 0;
    for (const CommRow& row : rows) sum += squared_log_ratio(ring_s(row, candidate), row.time_s);
    return sum;
  });
  const CommRow& largest = *std::ranges::max_element(rows, {}, &CommRow::bytes);
  if (transfer_s(largest, link) < kSeenShare * largest.time_s) return std::nullopt;
  const auto [few, many] = std::ranges::minmax(rows, {}, &CommRow::ranks);
  LinkFit fit{.alpha_s = link.alpha_s,
              .beta_bytes_per_s = link.beta_bytes_per_s,
              .min_ranks = few.ranks,
              .max_ranks = many.ranks,
              .min_bytes = std::ranges::min_element(rows, {}, &CommRow::bytes)->bytes,
              .max_bytes = largest.bytes};
  describe_errors(rows, fit);
  return fit;
}

double overlapped_step_s(const engine::StepPlan& plan, int ranks, const spec::CommSpec& comm) {
  const double end_s = ranks == 1 ? 0 : engine::model_communication(plan.buckets, ranks, comm).end_s;
  return plan.compute_s() + std::max(0.0, end_s - plan.backward_s) + plan.update_s;
}

ScalingFit fit_scaling(const engine::StepPlan& plan, int images_per_step, std::span<const ScalingPoint> points,
                       const spec::CommSpec& comm) {
  std::set<int> several;
  for (const ScalingPoint& point : points) {
    if (point.ranks > 1) several.insert(point.ranks);
  }
  if (several.size() < 2) {
    throw SpecError(
        "--fit: two figures of the network cannot be fitted to fewer than two points of more than one rank");
  }
  const auto squares = [&](const Link& link) {
    spec::CommSpec candidate = comm;
    candidate.alpha_s = link.alpha_s;
    candidate.beta_bytes_per_s = link.beta_bytes_per_s;
    double sum = 0;
    for (const ScalingPoint& point : points) {
      const double images_per_s = images_per_step * point.ranks / overlapped_step_s(plan, point.ranks, candidate);
      sum += squared_log_ratio(images_per_s, point.images_per_s);
    }
    return sum;
  };
  const Link link = search_link(squares);
  return {.alpha_s = link.alpha_s,
          .beta_bytes_per_s = link.beta_bytes_per_s,
          .rms_error = std::sqrt(squares(link) / static_cast<double>(points.size()))};
}

}  // namespace chexbench::verbs

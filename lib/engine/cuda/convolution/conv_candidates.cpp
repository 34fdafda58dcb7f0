#include "engine/cuda/convolution/conv_candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace chexbench::engine::cuda {

std::string CandidateChoice::add(int index, const Plan& plan, CandidateRun run) {
  if (!std::ranges::all_of(run.sample, [](float value) { return std::isfinite(value); }))
    return plan.engine + " leaves some of its results unwritten, or they are not finite";
  candidates_.push_back({index, plan, std::move(run)});
  return "";
}

bool CandidateChoice::agree(const Candidate& a, const Candidate& b) const {
  if (a.run.sample.size() != b.run.sample.size()) return false;
  double difference = 0, largest_a = 0, largest_b = 0;
  for (std::size_t i = 0; i < a.run.sample.size(); ++i) {
    const double of_a = a.run.sample[i], of_b = b.run.sample[i];
    difference += (of_a - of_b) * (of_a - of_b);
    largest_a += of_a * of_a;
    largest_b += of_b * of_b;
  }
  return std::sqrt(difference) <= tolerance_ * std::sqrt(std::max(largest_a, largest_b));
}

const CandidateChoice::Candidate& CandidateChoice::most_trusted() const {
  return *std::ranges::max_element(candidates_, {}, [&](const Candidate& one) {
    return std::ranges::count_if(candidates_, [&](const Candidate& other) { return agree(one, other); });
  });
}

const CandidateChoice::Candidate& CandidateChoice::best() const {
  const Candidate& trusted = most_trusted();
  const Candidate* best = &trusted;
  const auto rank = [](const Candidate& one) {
    return std::tuple(one.run.seconds, one.plan.workspace_bytes, one.index);
  };
  for (const Candidate& one : candidates_) {
    if (agree(one, trusted) && rank(one) < rank(*best)) best = &one;
  }
  return *best;
}

std::vector<std::string> CandidateChoice::outsiders() const {
  std::vector<std::string> engines;
  if (candidates_.empty()) return engines;
  const Candidate& trusted = most_trusted();
  for (const Candidate& one : candidates_) {
    if (!agree(one, trusted)) engines.push_back(one.plan.engine);
  }
  return engines;
}

double CandidateChoice::least_s() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& one : candidates_) least = std::min(least, one.run.seconds);
  return least;
}

double sample_tolerance(spec::Precision precision) { return precision == spec::Precision::f32 ? 1e-3 : 3e-2; }

}  // namespace chexbench::engine::cuda

#include "analysis/grade.hpp"

#include <vector>

namespace chexbench::analysis {
namespace {

enum class Side { none, below, above };

// Returns on which side of 1 the ratio lies, if it can be told.
Side side_of(const measure::Ratio& ratio, const std::vector<double>& a, const std::vector<double>& b) {
  if (!ratio.ci95 || measure::sign_test(a, b) > kSignLevel) return Side::none;
  if (ratio.ci95->low > 1) return Side::above;
  return ratio.ci95->high < 1 ? Side::below : Side::none;
}

}  // namespace

results::Grade grade_of(const results::SharedRounds& rounds, const measure::Ratio& ratio) {
  if (!ratio.ci95) return results::Grade::sample_too_small;
  const Side side = side_of(ratio, rounds.a, rounds.b);
  if (!rounds.disturbed) return side == Side::none ? results::Grade::cannot_tell : results::Grade::told_apart;
  const Side on_a_free_machine =
      side_of(measure::paired_ratio(rounds.free_a, rounds.free_b), rounds.free_a, rounds.free_b);
  return side != Side::none && side == on_a_free_machine ? results::Grade::told_apart
                                                         : results::Grade::machine_too_busy;
}

results::Grade grade_of(const results::TrialResult& a, const results::TrialResult& b, const measure::Ratio& ratio) {
  if (results::is_buffer_fed(a) || results::is_buffer_fed(b)) return results::Grade::sample_too_small;
  return grade_of(results::shared_rounds(a, b), ratio);
}

}  // namespace chexbench::analysis

#include "engine/step_parts.hpp"

namespace chexbench::engine {

std::optional<measure::StepTimings> StepParts::add(const measure::StepTimings& batch) {
  if (is_first()) sum_ = {};
  for (const auto duration : measure::kStepDurations) sum_.*duration += batch.*duration;
  sum_.end_s = batch.end_s;
  sum_.loss += batch.loss;
  sum_.images += batch.images;
  if (++done_ < batches_) return std::nullopt;
  done_ = 0;
  sum_.loss /= batches_;
  return sum_;
}

}  // namespace chexbench::engine

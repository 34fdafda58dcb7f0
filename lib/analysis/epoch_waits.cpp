#include "analysis/epoch_waits.hpp"

#include <algorithm>
#include <cmath>

#include "results/figures.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

using spec::ElementKind;
using spec::OpSpec;

// The images of an epoch that a pipeline buffers before it repeats.
struct Held {
  bool shards = false;
  bool repeats = false;
  double records = 0;  // in shuffles of records
  double decoded = 0;  // in shuffles of decoded images
  double batches = 0;  // in prefetches of batches
};

double size_of(const OpSpec& op, double batch, double all) {
  if (!op.holds_text("buffer")) return static_cast<double>(op.integer("buffer"));
  if (op.text("buffer") == "all") return all;
  constexpr double kAutoBatches = 2;
  return op.text("buffer") == "batch" ? batch : kAutoBatches;
}

Held held_by(const spec::TrialSpec& spec, double images) {
  Held held;
  const double batch = spec.training.batch_size;
  ElementKind kind = ElementKind::none;
  for (const OpSpec& op : spec.pipeline.ops) {
    const spec::OpRule& rule = op.rule();
    held.shards |= rule.shards;
    held.repeats |= rule.repeats;
    if (rule.shuffles && !held.repeats) {
      const double buffer = std::min(size_of(op, batch, images), images);
      if (kind == ElementKind::record) held.records += buffer;
      if (kind == ElementKind::example) held.decoded += buffer;
    }
    if (rule.runs_ahead && kind == ElementKind::batch) held.batches += batch * size_of(op, batch, batch);
    kind = rule.given(kind);
  }
  return held;
}

// The position of a step's images in their epoch.
class EpochPlaces {
 public:
  EpochPlaces(const spec::TrialSpec& spec, double epoch_images, double drained_images)
      : step_images_(spec.training.batch_size * spec.training.accumulate_steps),
        warmup_steps_(spec.measure.warmup_steps),
        epoch_images_(epoch_images),
        drained_images_(drained_images) {}

  bool is_start(int step) const { return first(step) + step_images_ > epoch_images_ || first(step) == 0; }
  bool is_steady(int step) const {
    return !is_start(step) && first(step) + step_images_ <= epoch_images_ - drained_images_;
  }

 private:
  // Returns the position of the step's first image in its epoch, from 0.
  double first(int step) const { return std::fmod((warmup_steps_ + step) * step_images_, epoch_images_); }

  const double step_images_, warmup_steps_, epoch_images_, drained_images_;
};

// Sums over steps.
struct Sum {
  int steps = 0;
  double wall_s = 0, wait_s = 0;

  void add(const measure::StepTimings& timings) {
    ++steps;
    wall_s += timings.wall_s;
    wait_s += timings.wait_s;
  }
  double share() const { return wall_s > 0 ? wait_s / wall_s : 0; }
};

}  // namespace

std::optional<EpochWaits> epoch_waits(const results::TrialResult& trial) {
  if (!spec::uses_pipeline(trial.spec) || trial.spec.training.epochs > 0 || trial.data.images == 0) return {};
  const auto images = static_cast<double>(trial.data.images);
  const double of_rank = held_by(trial.spec, images).shards ? std::floor(images / trial.ranks) : images;
  const Held held = held_by(trial.spec, of_rank);
  if (of_rank < 1 || !held.repeats || held.records + held.decoded == 0) return {};
  // A shuffle of decoded images keeps delivering after it stops filling, and prefetches get ahead meanwhile.
  const EpochPlaces places(trial.spec, of_rank, held.decoded > 0 ? held.decoded + held.batches : 0);
  Sum all, starts, steady;
  for (const results::RepeatResult* repeat : results::typical_repeats(trial)) {
    for (const auto& [rank, step, next_s, timings] : repeat->steps) {
      all.add(timings);
      if (places.is_start(step)) starts.add(timings);
      if (places.is_steady(step)) steady.add(timings);
    }
  }
  if (all.wall_s <= 0) return {};
  const Sum others{
      .steps = all.steps - starts.steps, .wall_s = all.wall_s - starts.wall_s, .wait_s = all.wait_s - starts.wait_s};
  const double usual_wait_s = others.steps > 0 ? others.wait_s / others.steps : 0;
  const double longer_s = std::max(0.0, starts.wait_s - starts.steps * usual_wait_s);
  EpochWaits waits{.images = of_rank,
                   .shuffled_images = held.records + held.decoded,
                   .steps = all.steps / trial.ranks,
                   .starts = starts.steps / trial.ranks,
                   .start_share = longer_s / all.wall_s,
                   .start_wait_s = starts.steps > 0 ? longer_s / starts.steps : 0,
                   .other_wait_share = others.share(),
                   .steady_steps = steady.steps / trial.ranks};
  if (waits.steady_steps >= (held.decoded > 0 ? kFewestSteadySteps : 1)) {
    waits.steady_wait_share = steady.share();
    waits.steady_images_per_s = trial.ranks * trial.spec.training.batch_size * trial.spec.training.accumulate_steps *
                                steady.steps / steady.wall_s;
  }
  return waits;
}

bool matters(const EpochWaits& waits) { return waits.start_share >= results::kFedShare; }

double images_per_s_over(const results::TrialResult& trial, const EpochWaits& waits, double images) {
  const double of_all_ranks = images * waits.images * trial.ranks / static_cast<double>(trial.data.images);
  return of_all_ranks / (of_all_ranks / *waits.steady_images_per_s + waits.start_wait_s);
}

}  // namespace chexbench::analysis

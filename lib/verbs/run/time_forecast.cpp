#include "verbs/run/time_forecast.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "bench/plan.hpp"
#include "bench/progress.hpp"
#include "bench/protocol.hpp"
#include "bench/scale_model.hpp"
#include "bench/trial.hpp"
#include "comm/communicator.hpp"
#include "core/errors.hpp"
#include "core/text.hpp"
#include "engine/registry.hpp"
#include "spec/interval.hpp"
#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/profile.hpp"
#include "verbs/probe/probe_spec.hpp"
#include "verbs/run/dry_run.hpp"

namespace chexbench::verbs {
namespace {

// Returns how many images a repeat decodes before its first batch: the buffers of its shuffles of decoded images, at
// most the number of images unless they are repeated before.
double images_before_first_batch(const spec::PipelineSpec& pipeline, std::size_t images) {
  const auto all = static_cast<double>(images);
  const std::size_t decoding = decoding_op(pipeline);
  double sum = 0;
  bool repeated = false;
  for (std::size_t i = 0; i < pipeline.ops.size(); ++i) {
    const spec::OpSpec& op = pipeline.ops[i];
    repeated = repeated || op.rule().repeats;
    if (i <= decoding || !op.rule().shuffles) continue;
    const double buffer = op.holds_text("buffer") ? all : static_cast<double>(op.integer("buffer"));
    sum += repeated ? buffer : std::min(buffer, all);
  }
  return sum;
}

// Returns the seconds of an emulated step of one batch.
double emulated_step_s(const spec::TrialSpec& spec, const std::string& profile) {
  const spec::TrainingSpec& training = spec.training;
  const spec::ProfileEntry entry =
      spec::find_entry(spec::load_profile(profile), spec.model, training.precision, training.batch_size);
  return entry.compute_s() * training.batch_size / entry.batch_size + entry.update_s;
}

double slowdown_of(const results::TrialResult& trial, const bench::HostCores& host, const bench::CoreShare& share) {
  if (trial.spec.emulation.cores_per_accelerator == 0) return 1;
  return bench::scale_model_of(trial.spec, host, share, trial.ranks, std::numeric_limits<double>::infinity()).factor;
}

// The repeats that a run adds if the planned ones are disturbed by others, or vary much.
int extra_repeats(const spec::TrialSpec& trial) {
  const spec::MeasureSpec& measure = trial.measure;
  const bool may_go_on =  // same rule as bench/stopping.cpp
      measure.repeats >= spec::kRepeatsForInterval && !measure.relative_error && trial.training.epochs == 0;
  return may_go_on ? measure.extra_repeats : 0;
}

// The images of one repeat.
struct RepeatImages {
  double batches = 0;    // of a rank, trained on
  double validated = 0;  // by all ranks
};

// Returns no batches if there are too few images for one step of an epoch.
RepeatImages images_of_repeat(const spec::TrialSpec& spec, int ranks, const Tried& tried) {
  const int accumulate = spec.training.accumulate_steps;
  if (spec.training.epochs == 0)
    return {.batches = static_cast<double>(spec.measure.warmup_steps + spec.measure.steps) * accumulate};
  const auto images = static_cast<double>(tried.images);
  const bool has_own = tried.validation_images > 0 && spec.training.validation_share > 0;
  const double validating =
      has_own ? static_cast<double>(tried.validation_images) : spec.training.validation_share * images;
  const double training = has_own ? images : images - validating;
  const double steps = std::floor(training / (spec.training.batch_size * accumulate * ranks));
  return {.batches = steps * accumulate * spec.training.epochs, .validated = validating * spec.training.epochs};
}

// Measures a trial of one rank, which must have one repeat. Returns std::nullopt if that fails or takes too long.
std::optional<results::TrialResult> measure_once(const spec::TrialSpec& trial, double stop_at_s) {
  try {
    const auto world = comm::make_single_world();
    results::Report report = bench::plan_report("look", {{.name = "look", .spec = trial}}, *world);
    bench::RunOptions options;
    options.stop_at_s = stop_at_s;
    options.warns_of_others = false;
    bench::run_trials(report, *world, options);
    return report.trials.front();
  } catch (const InterruptedError&) {
    throw;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::optional<InputCosts> measure_input_costs(const spec::TrialSpec& trial, double stop_at_s) {
  spec::TrialSpec look;
  look.data = trial.data;
  look.preprocess = trial.preprocess;
  look.model = trial.model;
  look.pipeline = spec::preset("best");
  look.engine = "none";
  look.measure = first_look_measure();
  const std::optional<results::TrialResult> measured = measure_once(look, stop_at_s);
  if (!measured) return {};
  return measured_costs(*measured);
}

std::optional<double> measure_training_rate(const spec::TrialSpec& trial, double stop_at_s) {
  if (trial.engine != "onednn") return {};
  spec::TrialSpec look;
  look.data.format = spec::DataFormat::ready;
  look.model = trial.model;
  look.training = trial.training;
  look.training.epochs = 0;
  look.training.batch_size = std::min(2, trial.training.batch_size);
  look.training.accumulate_steps = 1;
  look.engine = trial.engine;
  look.measure = first_look_measure();
  look.measure.warmup_steps = 1;  // a one-time preparation
  look.measure.steps = 1;
  if (training_bytes(look) > allowed_bytes()) return {};
  const std::optional<results::TrialResult> measured = measure_once(look, stop_at_s);
  if (!measured) return {};
  return measured->repeats.front().images_per_s / measured->cores_per_rank;
}

RepeatForecast forecast_repeat(const results::TrialResult& trial, const Tried& tried, const bench::HostCores& host) {
  const spec::TrialSpec& spec = trial.spec;
  const bench::CoreShare share = bench::share_cores(host, spec, trial.ranks);
  const auto cores = static_cast<int>(share.cores.size());
  const auto [batches, validated] = images_of_repeat(spec, trial.ranks, tried);
  RepeatForecast forecast;
  if (batches == 0) {
    forecast.unknown = "epochs, for whose steps there are too few images";
    return forecast;
  }
  if (spec::uses_pipeline(spec)) {
    const double images_per_s = predicted_images_per_s(spec, trial.ranks, cores, tried.costs);
    const double trained = batches * spec.training.batch_size * trial.ranks;
    const double before = images_before_first_batch(spec.pipeline, tried.images);
    if (images_per_s > 0) forecast.repeat_s = (trained + validated + before) / images_per_s;
  }
  if (const auto profile = engine::profile_of_engine(spec.engine)) {
    forecast.repeat_s = std::max(forecast.repeat_s, batches * emulated_step_s(spec, *profile));
  } else if (tried.trained_images_per_s_per_core) {  // on the same cores that make the batches
    const double trained_s = batches * spec.training.batch_size / (cores * *tried.trained_images_per_s_per_core);
    forecast.repeat_s += trained_s * (1 + bench::validation_share(spec.training));
  } else if (spec::has_engine(spec)) {
    forecast.unknown = fmt::format("what engine {} computes", spec.engine);
  }
  forecast.repeat_s *= slowdown_of(trial, host, share);
  return forecast;
}

std::string time_text(const std::vector<TrialForecast>& trials) {
  double planned_s = 0, extra_s = 0, first_repeats_s = 0, total_s = std::numeric_limits<double>::infinity();
  bool is_least = false;
  int repeats = 0, extra = 0;
  std::size_t without = 0;
  bool any_epochs = false;
  std::set<std::string> unknown = {"opening the data", "building engines"};
  for (const TrialForecast& trial : trials) {
    const spec::MeasureSpec& measure = trial.spec.measure;
    repeats += measure.repeats;
    extra += extra_repeats(trial.spec);
    if (!trial.repeat) {
      ++without;
      continue;
    }
    const double repeat_s = trial.repeat->repeat_s;
    first_repeats_s += repeat_s;
    total_s = std::min(total_s, measure.max_total_seconds.value_or(total_s));
    const double most_s =
        measure.max_seconds ? *measure.max_seconds + repeat_s : std::numeric_limits<double>::infinity();
    const double trial_s = std::min(most_s, repeat_s * measure.repeats);
    planned_s += trial_s;
    extra_s += std::min(most_s - trial_s, repeat_s * extra_repeats(trial.spec));
    any_epochs = any_epochs || trial.spec.training.epochs > 0;
    if (trial.repeat->unknown.empty()) continue;
    unknown.insert(trial.repeat->unknown);
    is_least = true;
  }
  planned_s = std::min(planned_s, std::max(total_s, first_repeats_s));
  extra_s = std::clamp(total_s - planned_s, 0.0, extra_s);
  if (without == trials.size())
    return "time: no forecast, because nothing could be measured, or trainings begin at a checkpoint\n";
  std::string text = fmt::format("time: {} {} for {} repeat{} of {} trial{}", is_least ? "at least" : "about",
                                 duration_text(planned_s), repeats, repeats == 1 ? "" : "s", trials.size(),
                                 trials.size() == 1 ? "" : "s");
  if (without > 0)
    text += fmt::format(" ({} of them not counted: their images could not be tried, or they begin at a checkpoint)",
                        without);
  text += '\n';
  if (extra > 0 && extra_s > 0)
    text += fmt::format("  plus up to {} for {} more repeats, if other processes disturb them or they vary too much\n",
                        duration_text(extra_s), extra);
  text += fmt::format("  not counted: {}\n", fmt::join(unknown, ", "));
  if (any_epochs) text += "  counted: whole trainings; validating an image takes a third of training with it\n";
  return text + "  a rough forecast, from profiles and a few images decoded just now\n";
}

}  // namespace chexbench::verbs

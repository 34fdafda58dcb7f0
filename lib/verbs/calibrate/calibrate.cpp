#include "verbs/calibrate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "bench/plan.hpp"
#include "core/errors.hpp"
#include "core/text.hpp"
#include "engine/engine.hpp"
#include "engine/registry.hpp"
#include "measure/statistics.hpp"
#include "model/networks.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::verbs {
namespace {

void check_engine(const std::string& engine) {
  const engine::EngineKind* const kind = engine::find_engine_kind(engine);
  if (kind == nullptr || kind->trains) return;
  throw SpecError(
      fmt::format("calibrate: engine '{}' computes nothing that could be measured; give auto, onednn or cuda", engine));
}

// The phases of a repeat, in seconds per step.
struct MeanStep {
  double compute_s = 0;  // everything except waits and the update
  double backward_s = 0;
  double update_s = 0;

  double step_s() const { return compute_s + update_s; }
};

MeanStep mean_step(const results::RepeatResult& repeat) {
  MeanStep sum;
  for (const results::StepRecord& step : repeat.steps) {
    const measure::StepTimings& timings = step.timings;
    sum.compute_s += timings.wall_s - timings.wait_s - timings.exposed_communication_s - timings.update_s;
    sum.backward_s += timings.backward_s;
    sum.update_s += timings.update_s;
  }
  const auto steps = static_cast<double>(repeat.steps.size());
  return {.compute_s = sum.compute_s / steps, .backward_s = sum.backward_s / steps, .update_s = sum.update_s / steps};
}

MeanStep mean(const MeanStep& a, const MeanStep& b) {
  return {.compute_s = (a.compute_s + b.compute_s) / 2,
          .backward_s = (a.backward_s + b.backward_s) / 2,
          .update_s = (a.update_s + b.update_s) / 2};
}

// Returns all phases of the repeat with the median step, or the mean of the two middle ones. Medians of single phases
// would come from different repeats, and their sum would be a step that never happened.
MeanStep median_step(std::vector<MeanStep> steps) {
  std::ranges::sort(steps, {}, &MeanStep::step_s);
  return mean(steps[(steps.size() - 1) / 2], steps[steps.size() / 2]);
}

std::string describe_source(const results::Environment& environment, const results::TrialResult& trial) {
  return fmt::format(
      "measured by chexbench {} calibrate, {}, {} ({}): engine {}, {} rank{} of {} core{}, median of {} repeat{} of {} "
      "steps of ready-made batches, optimizer {}",
      environment.chexbench_version, environment.date_utc, environment.host, environment.cpu, trial.spec.engine,
      trial.ranks, trial.ranks == 1 ? "" : "s", trial.cores_per_rank, trial.cores_per_rank == 1 ? "" : "s",
      trial.repeats.size(), trial.repeats.size() == 1 ? "" : "s", trial.spec.measure.steps,
      to_string(trial.spec.training.optimizer));
}

spec::ProfileEntry make_entry(const results::Environment& environment, const results::TrialResult& trial) {
  const int batch_size = trial.spec.training.batch_size;
  std::vector<MeanStep> steps;
  std::vector<double> images_per_s;
  for (const results::RepeatResult& repeat : trial.repeats) {
    steps.push_back(mean_step(repeat));
    images_per_s.push_back(batch_size / steps.back().compute_s);
  }
  const MeanStep step = median_step(steps);
  return {.model = trial.spec.model.name,
          .image_size = trial.spec.model.image_size,
          .precision = trial.spec.training.precision,
          .batch_size = batch_size,
          .images_per_s = batch_size / step.compute_s,
          .images_per_s_mad = measure::median_absolute_deviation(images_per_s),
          .backward_share = step.backward_s / step.compute_s,
          .update_s = step.update_s,
          .includes_update = step.update_s == 0,  // the engine does not report it separately
          .includes_communication = false,
          .source = describe_source(environment, trial)};
}

spec::Trial make_trial(const CalibrationRequest& request, const std::string& model, spec::Precision precision,
                       int batch_size) {
  spec::TrialSpec experiment;
  experiment.name = "calibrate";
  experiment.data.format = spec::DataFormat::ready;
  experiment.pipeline = spec::preset("optimized");
  experiment.model.name = model;
  experiment.model.image_size = request.image_size;
  experiment.training.precision = precision;
  experiment.training.batch_size = batch_size;
  experiment.engine = request.engine;
  experiment.measure.warmup_steps = request.warmup_steps;
  experiment.measure.steps = request.steps;
  experiment.measure.repeats = request.repeats;
  return {fmt::format("{} {} batch {}", model, to_string(precision), batch_size), experiment};
}

// A profile has only one time for each combination.
void check_each_once(const std::vector<spec::Trial>& trials) {
  std::set<std::string> names;
  for (const spec::Trial& trial : trials) {
    if (!names.insert(trial.name).second) throw SpecError(fmt::format("calibrate: {} is asked for twice", trial.name));
  }
}

}  // namespace

results::Report plan_calibration(const CalibrationRequest& request, comm::World& world) {
  check_engine(request.engine);
  std::vector<spec::Trial> trials;
  for (const std::string& model : request.models) {
    model::make_network(model, request.image_size);  // throws before any measurement if there is no such network
    for (const spec::Precision precision : request.precisions) {
      for (const int batch_size : request.batch_sizes)
        trials.push_back(make_trial(request, model, precision, batch_size));
    }
  }
  check_each_once(trials);
  return bench::plan_report("calibrate", trials, world);
}

spec::AcceleratorProfile make_profile(const results::Report& report, const std::string& name) {
  spec::AcceleratorProfile profile{.name = name, .device = "", .entries = {}};
  for (const results::TrialResult& trial : report.trials) {
    if (trial.repeats.empty()) continue;
    profile.device = trial.engine_device;
    profile.entries.push_back(make_entry(report.environment, trial));
  }
  return profile;
}

std::string profile_table(const spec::AcceleratorProfile& profile, const report::LineWidth& width) {
  report::TextTable table{
      .header = {"model", "size", "precision", "batch", "step", "forward", "backward", "update", "images/s", "spread"},
      .rows = {},
      .left_columns = 1,
      .expendable = {9, 7, 5, 6}};
  const auto milliseconds = [](double seconds) { return fmt::format("{:.2f} ms", 1e3 * seconds); };
  for (const spec::ProfileEntry& entry : profile.entries) {
    const double step_s = entry.compute_s() + entry.update_s;
    const double backward_s = entry.compute_s() * entry.backward_share;
    table.rows.push_back(
        {entry.model, std::to_string(entry.image_size), spec::to_string(entry.precision),
         std::to_string(entry.batch_size), milliseconds(step_s), milliseconds(entry.compute_s() - backward_s),
         milliseconds(backward_s), entry.includes_update ? "" : milliseconds(entry.update_s),
         rate_text(entry.batch_size / step_s),
         entry.images_per_s_mad ? fmt::format("{:.1f} %", 100 * *entry.images_per_s_mad / entry.images_per_s) : ""});
  }
  return fmt::format("{}: {}\n\n{}", profile.name, profile.device, report::fitted_text(table, width, "the profile"));
}

}  // namespace chexbench::verbs

#include "bench/repeat_runner.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <utility>

#include "bench/merge_ranks.hpp"
#include "bench/rank_records.hpp"
#include "bench/second_job/second_job.hpp"
#include "bench/step_observer.hpp"
#include "bench/stopping.hpp"
#include "bench/training/epochs.hpp"
#include "bench/trial_data.hpp"
#include "comm/communicator.hpp"
#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "measure/machine.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::bench {
namespace {

// Calls run_repeat(). If the device fails, adds NVML's information to the trial's notes and to the error.
void run_repeat_watched(RunningArm& arm, const TrialContext& context) {
  try {
    run_repeat(context);
  } catch (const DeviceError& error) {
    const std::string words = context.gpu_watch.last_words();
    if (words.empty()) throw;
    arm.trial.notes.push_back(fmt::format("repeat {} failed: {}{}", context.repeat, error.what(), words));
    throw DeviceError(error.what() + words);
  }
}

// Returns the images/s of all repeats, even of those that do not count because others disturbed them.
std::vector<double> rates_of_all_repeats(const results::TrialResult& trial) {
  std::vector<double> values;
  for (const results::RepeatResult& repeat : trial.repeats) values.push_back(repeat.images_per_s);
  return values;
}

}  // namespace

RepeatRunner::RepeatRunner(results::Report& report, comm::Communicator& ranks, const std::vector<RankCores>& rank_cores,
                           const HostCores& host, const RunOptions& options)
    : report_(report),
      options_(options),
      rank_cores_(rank_cores),
      host_(host),
      rank_(static_cast<std::size_t>(ranks.rank())),
      cpus_(usable_cpus()),
      progress_(report, options.progress, ranks.rank() == 0) {
  if (!options.journal_path.empty() && ranks.rank() == 0) journal_.emplace(options.journal_path);
}

bool RepeatRunner::take_known(RunningArm& arm, const TrialContext& context) {
  const std::string& key = arm.trial.key;
  std::optional<results::RepeatResult> known;
  if (const auto* written = journal_ ? journal_->find(key, context.repeat) : nullptr) {
    known = *written;
  } else if (journal_ && !context.checkpoint_folder.empty()) {
    known = find_finished_repeat(context.checkpoint_folder, key, context.repeat);
    if (known) {
      log::info("takes the finished training in {} into the journal", context.checkpoint_folder);
      journal_->append(key, *known);
    }
  }
  if (known) arm.trial.repeats.push_back(*known);
  return comm::broadcast_flag(context.communicator, known.has_value());
}

std::unique_ptr<SecondJob> RepeatRunner::start_second_job(const RunningArm& arm, comm::Communicator& members) const {
  if (!spec::has_second_job(arm.run) || host_.local_rank != 0) return nullptr;
  const std::vector<int> cores = second_job_cores(rank_cores_, rank_, arm.run, members.world(), cpus_);
  members.enter({.what = fmt::format("starts the second job of '{}'", arm.trial.name)});
  std::unique_ptr<SecondJob> job = options_.start_second_job({.trial = arm.run, .cores = cores});
  job->wait_until_ready();
  return job;
}

// All repeats of a traced trial record a trace, so that conditions are the same.
void RepeatRunner::run_traced(RunningArm& arm, const TrialContext& context) const {
  if (!arm.trial.spec.measure.trace) return run_repeat_watched(arm, context);
  const double ready_s = now_s();
  measure::TraceRecording recording(most_spans(context.communicator.world()));
  run_repeat_watched(arm, context);
  arm.recording = {.repeat = context.repeat, .host = host_.host, .ready_s = ready_s, .trace = recording.take()};
}

// Logs each problem once, because an unresponsive driver affects every repeat on every rank.
void RepeatRunner::warn_of_gpus(const results::RepeatResult& result) {
  for (const results::GpuSeries& gpu : result.gpus) {
    if (gpu.problem.empty() || !gpu_problems_.insert(gpu.problem).second) continue;
    log::warning("the GPU figures of rank {} are missing or end early: {}", gpu.rank, gpu.problem);
  }
  for (const std::string& note : ecc_notes(result)) log::warning("{}", note);
}

// Logs it once: on a busy machine, it would apply to most repeats.
void RepeatRunner::warn_of_others(const results::RepeatResult& result) {
  if (!options_.warns_of_others || warned_of_others_ || !results::is_disturbed(result)) return;
  warned_of_others_ = true;
  log::warning(
      "other processes, a hypervisor or memory reclaim took {:.0f} % of this trial's cores; such repeats "
      "are dropped if enough others remain",
      100 * results::disturbed_share(result));
}

void RepeatRunner::warn_of_mask(const results::RepeatResult& result) {
  if (!options_.warns_of_others || !results::lost_cores(result)) return;
  log::warning_once(
      "the CPUs that this run may use became fewer while it ran (taskset, or an orchestrator that changed a cpuset). "
      "Such repeats are dropped if enough others remain. Start again with a mask that stays: in Kubernetes, by the CPU "
      "manager's static policy and whole CPUs");
}

void RepeatRunner::merge(RunningArm& arm, const TrialContext& context, const results::RepeatResult& mine,
                         double begin_s) {
  comm::Communicator& members = context.communicator;
  const std::vector<results::RepeatResult> all = gather_records(members, mine);
  if (members.rank() != 0) return;
  const spec::TrainingSpec& training = arm.trial.spec.training;
  results::RepeatResult merged = merge_ranks(all, training.batch_size * training.accumulate_steps);
  if (arm.scale) to_full_scale(merged, *arm.scale, arm.trial.spec.emulation);
  merged.spent_s = now_s() - begin_s;
  merged.ended_unix_s = measure::unix_now_s();
  if (training.epochs > 0 && !context.checkpoint_folder.empty()) {
    keep_finished_repeat(context.checkpoint_folder, arm.trial.key, merged);
  }
  arm.trial.repeats.push_back(std::move(merged));
}

const std::vector<results::OpTuning>& RepeatRunner::tune(RunningArm& arm, const TrialContext& context) const {
  if (!arm.tunings && !has_auto(arm.run)) arm.tunings.emplace();
  if (arm.tunings) return *arm.tunings;
  std::vector<results::OpTuning> known;  // only rank 0 has the repeats of an earlier run
  if (!arm.trial.repeats.empty()) known = arm.trial.repeats.front().tunings;
  arm.tunings = broadcast_record(context.communicator, known);
  if (!arm.tunings->empty()) return *arm.tunings;
  prepare_files(arm.trial.spec.measure.page_cache, arm.dataset, host_.local_rank, context.communicator);
  arm.tunings = tune_input(context, arm.trial.name, options_.tuning);
  return *arm.tunings;
}

void RepeatRunner::measure(RunningArm& arm, TrialContext context) {
  comm::Communicator& members = context.communicator;
  const double begin_s = now_s();
  members.enter({.what = fmt::format("prepares repeat {} of '{}'", context.repeat + 1, arm.trial.name)});
  context.tuned = values_of(tune(arm, context));
  const std::string page_cache =
      prepare_files(arm.trial.spec.measure.page_cache, arm.dataset, host_.local_rank, members);
  const std::unique_ptr<SecondJob> second_job = start_second_job(arm, members);
  context.second_job = second_job.get();
  context.on_step = [this](const StepProgress& progress) { progress_.step(progress); };
  const measure::CachedShare before = look_at_files(arm.dataset, host_.local_rank);
  members.barrier();
  context.on_measured = [&](results::RepeatResult mine) {
    mine.page_cache = page_cache;
    mine.tunings = *arm.tunings;
    mine.looked_at_bytes = before.bytes;
    mine.cached_bytes_before = before.resident_bytes;
    mine.cached_bytes_after = look_at_files(arm.dataset, host_.local_rank).resident_bytes;
    if (second_job) measure_alone(*second_job, arm.run, mine);
    merge(arm, context, mine, begin_s);
  };
  run_traced(arm, context);
  malloc_trim(0);  // memory freed by this arm must not count for the next arm
  if (members.rank() != 0) return;
  warn_of_gpus(arm.trial.repeats.back());
  warn_of_others(arm.trial.repeats.back());
  warn_of_mask(arm.trial.repeats.back());
  if (journal_) journal_->append(arm.trial.key, arm.trial.repeats.back());
}

void RepeatRunner::run(RunningArm& arm, int repeat, const TrialContext& context) {
  comm::Communicator& members = context.communicator;
  const bool is_root = members.rank() == 0;
  if (!take_known(arm, context)) {
    progress_.begin(arm.number - 1, repeat);
    measure(arm, context);
  }
  if (is_root) {
    progress_.end(arm.number - 1, arm.trial.repeats.back().spent_s);
    for (std::string& note : ecc_notes(arm.trial.repeats.back())) arm.trial.notes.push_back(std::move(note));
  }
  const spec::MeasureSpec& measure = arm.trial.spec.measure;
  const std::vector<double> all = rates_of_all_repeats(arm.trial);
  const bool finished = is_root && is_finished(measure, all, time_spent(report_, arm.trial, arm.share));
  arm.finished = comm::broadcast_flag(members, finished);
  arm.trial.partial = !arm.finished || (is_root && is_cut_short(measure, all));
  if (arm.finished) progress_.finish(arm.number - 1);
  if (arm.finished && is_root) arm.trial.unstable = is_unstable(measure, results::rates(arm.trial));
}

}  // namespace chexbench::bench

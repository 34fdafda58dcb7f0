#include "bench/protocol.hpp"
#include "bench/training/labels.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "bench/core_layout.hpp"
#include "bench/describe_trial.hpp"
#include "bench/gpu_watch.hpp"
#include "bench/groups.hpp"
#include "bench/journal.hpp"
#include "bench/merge_ranks.hpp"
#include "bench/opened_datasets.hpp"
#include "bench/progress.hpp"
#include "bench/provenance.hpp"
#include "bench/rank_agreement.hpp"
#include "bench/scale_model.hpp"
#include "bench/second_job/cores.hpp"
#include "bench/stopping.hpp"
#include "bench/trace_gather.hpp"
#include "bench/training/finished_repeat.hpp"
#include "bench/trial.hpp"
#include "bench/trial_files.hpp"
#include "comm/texts.hpp"
#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "engine/engine.hpp"
#include "engine/registry.hpp"
#include "measure/machine.hpp"
#include "results/disturbance.hpp"
#include "results/journal_line.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"
#include "spec/slowed.hpp"

namespace chexbench::bench {
namespace {

// An arm of the group that is running.
struct RunningArm {
  results::TrialResult& trial;
  spec::Experiment run;  // what is run: the trial's spec, slowed down in a scale model
  const dataset::Dataset& dataset;
  const std::optional<ScaleModel>& scale;
  std::size_t number = 0;  // of the trial in the report, from 1
  double spent_s = 0;      // in all its repeats, including those of earlier runs; only on rank 0
  bool finished = false;
  std::optional<std::vector<results::OpTuning>> tunings;  // what its "auto" stands for, once it is known
  std::optional<RankRecording> recording;  // of the last repeat that was measured, if the trial is traced
};

// Returns a folder within `parent` for the repeat alone, or "" if there is no parent. Its name is that of the trial,
// with the characters replaced that file names should not contain.
std::string training_folder(const std::string& parent, const RunningArm& arm, int repeat) {
  if (parent.empty()) return {};
  std::string name = arm.trial.trial;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '=') c = '-';
  }
  return fmt::format("{}/{:02}-{}-repeat{}", parent, arm.number, name, repeat);
}

// The state of one call of run_trials() while it goes from group to group.
class Runner {
 public:
  Runner(results::Report& report, comm::World& world, const RunOptions& options)
      : report_(report),
        options_(options),
        ranks_(world.communicator()),
        rank_cores_(gather_rank_cores(world)),
        cpus_(usable_cpus()),
        host_(host_cores_of(rank_cores_, static_cast<std::size_t>(ranks_.rank()))),
        make_engine_(options.make_engine),
        progress_(report, options.progress, ranks_.rank() == 0) {
    if (!options.journal_path.empty() && ranks_.rank() == 0) journal_.emplace(options.journal_path);
    report.environment.rank_cores.clear();
    for (const RankCores& rank : rank_cores_) report.environment.rank_cores.push_back(describe(rank));
    report.environment.hosts = gather_hosts(world, host_.local_rank == 0);
  }

  void run() {
    ranks_.enter({.what = "opens the data"});
    if (!report_.trials.empty()) ranks_.limit_waits(report_.trials.front().spec.comm.timeout_s);
    check_same_trials(report_.trials, ranks_, rank_cores_);
    check_same_data(report_.trials, datasets_, ranks_, rank_cores_);
    for (const ArmGroup& group : group_arms(report_.trials)) {
      const std::unique_ptr<comm::Communicator> members = ranks_.first(group.ranks);
      if (members) {
        run_group(group, *members);
      } else {
        sit_out(group);
      }
      ranks_.enter({.what = "waits for trials of fewer ranks", .patience = comm::Patience::silent});
      ranks_.barrier();  // ranks that sat this group out sleep here
    }
    ranks_.enter({.what = "gathers and writes the results"});
    if (ranks_.rank() != 0) return;
    // After all measuring, because it reads the lists of whole data sets and nothing needs it earlier.
    for (results::TrialResult& trial : report_.trials) trial.data = datasets_.facts_of(trial.spec);
  }

 private:
  void run_group(const ArmGroup& group, comm::Communicator& members);
  // Takes part in what is collective over the world when the members make their reducer.
  void sit_out(const ArmGroup& group);
  const spec::Experiment& spec_of(const ArmGroup& group) const { return report_.trials[group.arms.front()].spec; }
  // Collective over the world.
  std::unique_ptr<Reducer> make_device_reducer(const ArmGroup& group);
  // Collective over the group: rank 0 decides.
  static bool agree_on_extra_round(const std::vector<RunningArm>& arms, comm::Communicator& members);
  // Collective over the group, like measure_repeat(). Only rank 0 keeps the result.
  void run_repeat_of(RunningArm& arm, int repeat, const TrialContext& context);
  void measure_repeat(RunningArm& arm, TrialContext context);
  // Merges what the ranks measured in the repeat that began at `begin_s`, and keeps it with the training's checkpoints.
  void merge_repeat(RunningArm& arm, const TrialContext& context, const results::RepeatResult& mine, double begin_s);
  // Returns what the arm's "auto" stands for: what the journal has of it, or else what is found now. Collective.
  const std::vector<results::OpTuning>& tune(RunningArm& arm, const TrialContext& context);
  void run_repeat_traced(RunningArm& arm, const TrialContext& context) const;
  void warn_of_gpus(const results::RepeatResult& result);
  void warn_of_others(const results::RepeatResult& result);
  // Takes a repeat that an earlier run finished. Collective over the group.
  bool take_known_repeat(RunningArm& arm, const TrialContext& context);
  // Returns the number of the network's outputs, which is the number of labels of the group's data sets.
  // @throws SpecError if these numbers differ
  int outputs_of(const ArmGroup& group);
  // Starts the second job of the arm on one rank of each host, and waits until it is ready; null elsewhere, and if the
  // arm has none.
  std::unique_ptr<SecondJob> start_second_job(const RunningArm& arm, comm::Communicator& members) const;

  results::Report& report_;
  const RunOptions& options_;
  comm::Communicator& ranks_;
  const std::vector<RankCores> rank_cores_;
  const std::vector<int> cpus_;  // that this process may be bound to
  const HostCores host_;
  const EngineMaker make_engine_;
  std::optional<GpuShare> gpu_;  // set by the first group whose engine computes on GPUs
  Progress progress_;
  std::optional<Journal> journal_;
  OpenedDatasets datasets_;
  std::set<std::string> gpu_problems_;  // those that were logged
  bool warned_of_others_ = false;
};

std::unique_ptr<Reducer> Runner::make_device_reducer(const ArmGroup& group) {
  if (!gpu_) gpu_ = share_gpus(ranks_, host_, options_.visible_gpus(), options_.allow_shared_gpu);
  if (spec_of(group).training.deterministic) {
    for (const auto& [name, value] : deterministic_environment()) setenv(name.c_str(), value.c_str(), 0);
  }
  return ranks_.make_device_reducer(group.ranks, {.gpu = gpu_->gpu, .comm = spec_of(group).comm});
}

void Runner::sit_out(const ArmGroup& group) {
  ranks_.limit_waits(spec_of(group).comm.timeout_s);
  if (engine::computes_on_gpu(spec_of(group).engine)) make_device_reducer(group);
}

int Runner::outputs_of(const ArmGroup& group) {
  const dataset::Dataset& images = datasets_.of(spec_of(group));
  if (!engine::drops_batches(spec_of(group).engine)) check_task(spec_of(group), images);
  const int outputs = images.labels();
  for (const std::size_t index : group.arms) {
    const spec::Experiment& other = report_.trials[index].spec;
    if (datasets_.of(other).labels() == outputs || engine::drops_batches(spec_of(group).engine)) continue;
    throw SpecError(
        fmt::format("trials that take turns on one engine have {} and {} labels ('{}' and '{}'): measure "
                    "these data sets in separate experiments",
                    outputs, datasets_.of(other).labels(), spec_of(group).data.root, other.data.root));
  }
  return outputs;
}

void Runner::run_group(const ArmGroup& group, comm::Communicator& members) {
  const spec::Experiment& spec = spec_of(group);
  ranks_.enter({.what = fmt::format("builds engine '{}'", spec.engine)});
  ranks_.limit_waits(spec.comm.timeout_s);
  const CoreShare share = share_cores(host_, spec, group.ranks);
  const std::optional<ScaleModel> scale = agree_on_scale(spec, host_, share, members);
  const double slowdown = scale ? scale->factor : 1;
  bind_this_thread(share.cores);
  const bool on_gpu = engine::computes_on_gpu(spec.engine);
  // The reducer comes first, because it must outlive the engine, which uses it until its end.
  const auto reducer = on_gpu ? make_device_reducer(group) : members.make_reducer(spec::slowed(spec.comm, slowdown));
  const auto engine = make_engine_(spec.engine, {.model = spec.model,
                                                 .training = spec.training,
                                                 .comm = spec.comm,
                                                 .deliver = spec::delivered(spec.data),
                                                 .outputs = outputs_of(group),
                                                 .class_weights = class_weights(spec, datasets_.of(spec)),
                                                 .cores = share.cores,
                                                 .world = group.ranks,
                                                 .rank = members.rank(),
                                                 .gpu = on_gpu ? gpu_->gpu : 0,
                                                 .slowdown = slowdown});
  GpuWatch gpu_watch(engine->traits().gpu_uuid);
  std::vector<RunningArm> arms;
  for (const std::size_t index : group.arms) {
    results::TrialResult& trial = report_.trials[index];
    describe_engine(trial, engine->traits(), share);
    if (on_gpu) describe_gpus(trial, *gpu_, *reducer);
    if (scale) describe_scale(trial, *scale);
    const spec::Experiment run = spec::slowed(trial.spec, slowdown);
    arms.push_back({.trial = trial, .run = run, .dataset = datasets_.of(run), .scale = scale, .number = index + 1});
  }
  const auto run_round = [&](int repeat) {
    for (RunningArm& arm : arms) {
      if (arm.finished) continue;
      run_repeat_of(arm, repeat,
                    {.spec = arm.run,
                     .dataset = arm.dataset,
                     .engine = *engine,
                     .communicator = members,
                     .reducer = *reducer,
                     .gpu_watch = gpu_watch,
                     .cores = share.cores,
                     .shares_cores = share.oversubscribed,
                     .repeat = repeat,
                     .checkpoint_folder = training_folder(options_.checkpoint_folder, arm, repeat),
                     .events = {.folder = training_folder(options_.events_folder, arm, repeat),
                                .host = host_.host,
                                .on_failure = options_.on_events_failure},
                     .on_step = [this](const StepProgress& progress) { progress_.step(progress); },
                     .stop_at_s = options_.stop_at_s});
    }
  };
  int repeat = 0;
  while (!std::ranges::all_of(arms, &RunningArm::finished)) run_round(repeat++);
  while (agree_on_extra_round(arms, members)) {
    for (RunningArm& arm : arms) arm.finished = false;
    run_round(repeat++);
  }
  for (RunningArm& arm : arms) {
    if (arm.recording) arm.trial.trace = gather_trace(members, *arm.recording);
  }
}

// All arms of the group take part in an extra round, because ratios between them need rounds that they share.
bool Runner::agree_on_extra_round(const std::vector<RunningArm>& arms, comm::Communicator& members) {
  const bool wanted = members.rank() == 0 && std::ranges::any_of(arms, [](const RunningArm& arm) {
                        return wants_extra_round(arm.trial, arm.spent_s);
                      });
  return !comm::broadcast_text(members, wanted ? "wanted" : "").empty();
}

bool Runner::take_known_repeat(RunningArm& arm, const TrialContext& context) {
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
  return !comm::broadcast_text(context.communicator, known ? "known" : "").empty();
}

std::unique_ptr<SecondJob> Runner::start_second_job(const RunningArm& arm, comm::Communicator& members) const {
  if (!spec::has_second_job(arm.run) || host_.local_rank != 0) return nullptr;
  const auto rank = static_cast<std::size_t>(ranks_.rank());
  const std::vector<int> cores = second_job_cores(rank_cores_, rank, arm.run, members.world(), cpus_);
  members.enter({.what = fmt::format("starts the second job of '{}'", arm.trial.trial)});
  std::unique_ptr<SecondJob> job = options_.start_second_job({.trial = arm.run, .cores = cores});
  job->wait_until_ready();
  return job;
}

// Calls run_repeat(). If the device fails, the trial's notes and the error get what NVML knows about it.
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

// Every repeat of a traced trial records a trace, so that all repeats are measured under the same conditions.
void Runner::run_repeat_traced(RunningArm& arm, const TrialContext& context) const {
  if (!arm.trial.spec.measure.trace) return run_repeat_watched(arm, context);
  const double ready_s = now_s();
  measure::TraceRecording recording(most_spans(context.communicator.world()));
  run_repeat_watched(arm, context);
  arm.recording = {.repeat = context.repeat, .host = host_.host, .ready_s = ready_s, .trace = recording.take()};
}

// Logs each problem once, because a driver that does not answer stays silent in every repeat, on every rank.
void Runner::warn_of_gpus(const results::RepeatResult& result) {
  for (const results::GpuSeries& gpu : result.gpus) {
    if (gpu.problem.empty() || !gpu_problems_.insert(gpu.problem).second) continue;
    log::warning("the GPU figures of rank {} are missing or end early: {}", gpu.rank, gpu.problem);
  }
  for (const std::string& note : ecc_notes(result)) log::warning("{}", note);
}

// Logs it once: on a busy machine, it would hold for most repeats.
void Runner::warn_of_others(const results::RepeatResult& result) {
  if (!options_.warns_of_others || warned_of_others_ || !results::is_disturbed(result)) return;
  warned_of_others_ = true;
  log::warning(
      "others take {:.0f} % of this trial's cores or time: other processes, a hypervisor, a CPU limit or the reclaim "
      "of "
      "memory. Such repeats do not count if enough others remain; the figures are better on a free machine",
      100 * results::disturbed_share(result));
}

void Runner::merge_repeat(RunningArm& arm, const TrialContext& context, const results::RepeatResult& mine,
                          double begin_s) {
  comm::Communicator& members = context.communicator;
  std::vector<results::RepeatResult> all;
  for (const std::string& text : members.gather(results::to_journal_line({.key = arm.trial.key, .repeat = mine}), 0)) {
    all.push_back(results::journal_from_text(text + "\n", "a rank's result").entries.front().repeat);
  }
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

const std::vector<results::OpTuning>& Runner::tune(RunningArm& arm, const TrialContext& context) {
  if (!arm.tunings && !has_auto(arm.run)) arm.tunings.emplace();
  if (arm.tunings) return *arm.tunings;
  results::RepeatResult known;  // only rank 0 has the repeats of an earlier run
  if (!arm.trial.repeats.empty()) known.tunings = arm.trial.repeats.front().tunings;
  const std::string text =
      comm::broadcast_text(context.communicator, results::to_journal_line({.key = arm.trial.key, .repeat = known}));
  arm.tunings = results::journal_from_text(text + "\n", "rank 0's values").entries.front().repeat.tunings;
  if (!arm.tunings->empty()) return *arm.tunings;
  prepare_files(arm.trial.spec.measure.page_cache, arm.dataset, host_.local_rank, context.communicator);
  arm.tunings = tune_input(context, arm.trial.trial, options_.tuning);
  return *arm.tunings;
}

void Runner::measure_repeat(RunningArm& arm, TrialContext context) {
  comm::Communicator& members = context.communicator;
  const double begin_s = now_s();
  members.enter({.what = fmt::format("prepares repeat {} of '{}'", context.repeat + 1, arm.trial.trial)});
  context.tuned = values_of(tune(arm, context));
  const std::string page_cache =
      prepare_files(arm.trial.spec.measure.page_cache, arm.dataset, host_.local_rank, members);
  const std::unique_ptr<SecondJob> second_job = start_second_job(arm, members);
  context.second_job = second_job.get();
  const measure::CachedShare before = look_at_files(arm.dataset, host_.local_rank);
  members.barrier();
  context.on_measured = [&](results::RepeatResult mine) {
    mine.page_cache = page_cache;
    mine.tunings = *arm.tunings;
    mine.looked_at_bytes = before.bytes;
    mine.cached_bytes_before = before.resident_bytes;
    mine.cached_bytes_after = look_at_files(arm.dataset, host_.local_rank).resident_bytes;
    if (second_job) measure_alone(*second_job, arm.run, mine);
    merge_repeat(arm, context, mine, begin_s);
  };
  run_repeat_traced(arm, context);
  malloc_trim(0);  // memory that this arm freed must not count as memory of the next arm
  if (members.rank() != 0) return;
  warn_of_gpus(arm.trial.repeats.back());
  warn_of_others(arm.trial.repeats.back());
  if (journal_) journal_->append(arm.trial.key, arm.trial.repeats.back());
}

// Returns the images/s also of repeats that do not count because others disturbed them.
std::vector<double> rates_of_all_repeats(const results::TrialResult& trial) {
  std::vector<double> values;
  for (const results::RepeatResult& repeat : trial.repeats) values.push_back(repeat.images_per_s);
  return values;
}

void Runner::run_repeat_of(RunningArm& arm, int repeat, const TrialContext& context) {
  comm::Communicator& members = context.communicator;
  const bool is_root = members.rank() == 0;
  if (!take_known_repeat(arm, context)) {
    progress_.begin(arm.number - 1, repeat);
    measure_repeat(arm, context);
  }
  if (is_root) {
    arm.spent_s += arm.trial.repeats.back().spent_s;
    progress_.end(arm.number - 1, arm.trial.repeats.back().spent_s);
    for (std::string& note : ecc_notes(arm.trial.repeats.back())) arm.trial.notes.push_back(std::move(note));
  }
  const spec::MeasureSpec& measure = arm.trial.spec.measure;
  const std::vector<double> all = rates_of_all_repeats(arm.trial);
  const bool finished = is_root && is_finished(measure, all, arm.spent_s);
  arm.finished = !comm::broadcast_text(members, finished ? "finished" : "").empty();
  arm.trial.partial = !arm.finished || (is_root && is_cut_short(measure, all));
  if (arm.finished) progress_.finish(arm.number - 1);
  if (arm.finished && is_root) arm.trial.unstable = is_unstable(measure, results::rates(arm.trial));
}

}  // namespace

void run_trials(results::Report& report, comm::World& world, const RunOptions& options) {
  Runner runner(report, world, options);
  try {
    runner.run();
  } catch (...) {
    report.environment.libraries = loaded_libraries(world);  // for what was measured until then
    throw;
  }
  report.environment.libraries = loaded_libraries(world);
}

}  // namespace chexbench::bench

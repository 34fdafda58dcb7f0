#include "bench/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "bench/merge_ranks.hpp"
#include "bench/plan.hpp"
#include "bench/rank_layout.hpp"
#include "bench/ranks.hpp"
#include "bench/repeat_runner.hpp"
#include "bench/scale_model.hpp"
#include "bench/step_observer.hpp"
#include "bench/stopping.hpp"
#include "bench/training/validation.hpp"
#include "bench/trial.hpp"
#include "bench/trial_data.hpp"
#include "comm/communicator.hpp"
#include "core/affinity.hpp"
#include "core/errors.hpp"
#include "engine/engine.hpp"
#include "engine/registry.hpp"
#include "spec/keys.hpp"
#include "spec/resolved.hpp"

namespace chexbench::bench {
namespace {

// Returns a separate folder within `parent` for the repeat, or "" if there is no parent. Its name is that of the trial,
// with characters replaced that file names should not contain; a folder of an older version is named after png.
std::string training_folder(const std::string& parent, const RunningArm& arm, int repeat) {
  if (parent.empty()) return {};
  std::string name = arm.trial.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '=') c = '-';
  }
  std::string folder = fmt::format("{}/{:02}-{}-repeat{}", parent, arm.number, name, repeat);
  const std::string word = spec::to_string(spec::DataFormat::images);
  std::error_code ignored;
  for (auto at = folder.find(word, parent.size()); at != std::string::npos; at = folder.find(word, at + 1)) {
    std::string older = folder;
    older.replace(at, word.size(), "png");
    if (std::filesystem::exists(older, ignored)) return older;
  }
  return folder;
}

// The state of one call of run_trials() while it goes from group to group.
class Runner {
 public:
  Runner(results::Report& report, comm::World& world, const RunOptions& options)
      : report_(report),
        options_(options),
        ranks_(world.communicator()),
        rank_cores_(gather_rank_cores(world)),
        host_(host_cores_of(rank_cores_, static_cast<std::size_t>(ranks_.rank()))),
        repeats_(report, ranks_, rank_cores_, host_, options) {
    report.environment.rank_cores.clear();
    for (const RankCores& rank : rank_cores_) report.environment.rank_cores.push_back(describe(rank));
    report.environment.hosts = gather_hosts(world, host_.local_rank == 0, report.trials);
  }

  void run() {
    ranks_.enter({.what = "opens the data"});
    if (!report_.trials.empty()) ranks_.limit_waits(report_.trials.front().spec.comm.timeout_s);
    check_same_trials(report_.trials, ranks_, rank_cores_);
    check_same_data(report_.trials, datasets_, ranks_, rank_cores_);
    for (const ArmGroup& group : group_arms(report_.trials)) {
      begun_ += group.arms.size();
      const std::unique_ptr<comm::Communicator> members = ranks_.first(group.ranks);
      if (members) {
        run_group(group, *members);
      } else {
        sit_out(group);
      }
      ranks_.enter({.what = "waits for trials of fewer ranks", .patience = comm::Patience::silent});
      ranks_.barrier();  // ranks that sit this group out sleep here
    }
    ranks_.enter({.what = "gathers and writes the results"});
    if (ranks_.rank() != 0) return;
    // After all measuring, because it reads the lists of whole data sets and nothing needs it earlier.
    for (results::TrialResult& trial : report_.trials) trial.data = datasets_.facts_of(trial.spec);
  }

 private:
  void run_group(const ArmGroup& group, comm::Communicator& members);
  // Takes part in the world's collectives while the members make their reducer.
  void sit_out(const ArmGroup& group);
  const spec::TrialSpec& spec_of(const ArmGroup& group) const { return report_.trials[group.arms.front()].spec; }
  // Collective over the world.
  std::unique_ptr<Reducer> make_device_reducer(const ArmGroup& group);
  // Returns the group's trials, ready to run; they refer to `scale`.
  std::vector<RunningArm> arms_of(const ArmGroup& group, const std::optional<ScaleModel>& scale);
  // Runs rounds, one repeat of each arm, until all arms are finished and none needs another. Collective over the group.
  void run_rounds(std::vector<RunningArm>& arms, comm::Communicator& members,
                  const std::function<void(int repeat)>& run_round) const;
  // Collective over the group: rank 0 decides.
  bool agree_on_extra_round(const std::vector<RunningArm>& arms, comm::Communicator& members) const;
  // Adds a note to each trial with fewer repeats than requested because the run's time is used up.
  void note_missing_repeats(std::vector<RunningArm>& arms) const;
  // Returns the number of the network's outputs: the number of labels of the group's data sets.
  // @throws SpecError if these numbers differ
  int outputs_of(const ArmGroup& group);

  results::Report& report_;
  const RunOptions& options_;
  comm::Communicator& ranks_;
  const std::vector<RankCores> rank_cores_;
  const HostCores host_;
  std::optional<GpuShare> gpu_;  // set by the first group whose engine computes on GPUs
  OpenedDatasets datasets_;
  std::size_t begun_ = 0;  // trials, those of the current group included
  RepeatRunner repeats_;
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
  if (spec::has_engine(spec_of(group))) check_task(spec_of(group), images);
  const int outputs = images.labels();
  for (const std::size_t index : group.arms) {
    const spec::TrialSpec& other = report_.trials[index].spec;
    if (datasets_.of(other).labels() == outputs || !spec::has_engine(spec_of(group))) continue;
    throw SpecError(
        fmt::format("trials that take turns on one engine have {} and {} labels ('{}' and '{}'): measure "
                    "these data sets in separate experiments",
                    outputs, datasets_.of(other).labels(), spec_of(group).data.root, other.data.root));
  }
  return outputs;
}

void Runner::run_group(const ArmGroup& group, comm::Communicator& members) {
  const spec::TrialSpec& spec = spec_of(group);
  ranks_.enter({.what = fmt::format("builds engine '{}'", spec.engine)});
  ranks_.limit_waits(spec.comm.timeout_s);
  const CoreShare share = share_cores(host_, spec, group.ranks);
  const std::optional<ScaleModel> scale = agree_on_scale(spec, host_, share, members);
  const double slowdown = scale ? scale->factor : 1;
  bind_this_thread(share.cores);
  const bool on_gpu = engine::computes_on_gpu(spec.engine);
  // The reducer comes first, because it must outlive the engine, which uses it to the end.
  const auto reducer = on_gpu ? make_device_reducer(group) : members.make_reducer(spec::slowed(spec.comm, slowdown));
  const auto engine = options_.make_engine(spec.engine, {.model = spec.model,
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
  for (const std::size_t index : group.arms) {
    results::TrialResult& trial = report_.trials[index];
    describe_engine(trial, engine->traits(), share);
    if (on_gpu) describe_gpus(trial, *gpu_, *reducer);
    if (scale) describe_scale(trial, *scale);
  }
  std::vector<RunningArm> arms = arms_of(group, scale);
  const auto run_round = [&](int repeat) {
    for (RunningArm& arm : arms) {
      if (arm.finished) continue;
      repeats_.run(arm, repeat,
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
                    .stop_at_s = options_.stop_at_s});
    }
  };
  run_rounds(arms, members, run_round);
  if (members.rank() == 0) note_missing_repeats(arms);
  for (RunningArm& arm : arms) {
    if (arm.recording) arm.trial.trace = gather_trace(members, *arm.recording);
  }
}

std::vector<RunningArm> Runner::arms_of(const ArmGroup& group, const std::optional<ScaleModel>& scale) {
  std::vector<RunningArm> arms;
  for (const std::size_t index : group.arms) {
    results::TrialResult& trial = report_.trials[index];
    const spec::TrialSpec run = spec::slowed(trial.spec, scale ? scale->factor : 1);
    arms.push_back({.trial = trial,
                    .run = run,
                    .dataset = datasets_.of(run),
                    .scale = scale,
                    .number = index + 1,
                    .share = static_cast<double>(begun_) / static_cast<double>(report_.trials.size())});
  }
  return arms;
}

void Runner::run_rounds(std::vector<RunningArm>& arms, comm::Communicator& members,
                        const std::function<void(int repeat)>& run_round) const {
  int repeat = 0;
  while (!std::ranges::all_of(arms, &RunningArm::finished)) run_round(repeat++);
  while (agree_on_extra_round(arms, members)) {
    for (RunningArm& arm : arms) arm.finished = false;
    run_round(repeat++);
  }
}

// All arms of the group take part in an extra round, because ratios between them need shared rounds.
bool Runner::agree_on_extra_round(const std::vector<RunningArm>& arms, comm::Communicator& members) const {
  const bool wanted = members.rank() == 0 && std::ranges::any_of(arms, [this](const RunningArm& arm) {
                        return wants_extra_round(arm.trial, time_spent(report_, arm.trial, arm.share));
                      });
  return comm::broadcast_flag(members, wanted);
}

void Runner::note_missing_repeats(std::vector<RunningArm>& arms) const {
  for (RunningArm& arm : arms) {
    const spec::MeasureSpec& measure = arm.trial.spec.measure;
    if (!arm.trial.partial || !is_total_spent(measure, time_spent(report_, arm.trial, arm.share))) continue;
    arm.trial.notes.push_back(
        fmt::format("{} of {} repeats on {} rank{} because measure.max_total_seconds, {:g} s, was used up",
                    arm.trial.repeats.size(), measure.repeats, arm.trial.ranks, arm.trial.ranks == 1 ? "" : "s",
                    *measure.max_total_seconds));
  }
}

}  // namespace

void run_trials(results::Report& report, comm::World& world, const RunOptions& options) {
  Runner runner(report, world, options);
  try {
    runner.run();
  } catch (...) {
    report.environment.libraries = loaded_libraries(world);  // for the measurements so far
    throw;
  }
  report.environment.libraries = loaded_libraries(world);
}

}  // namespace chexbench::bench

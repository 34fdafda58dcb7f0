#include "spec/keys.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "spec/key_making.hpp"

namespace chexbench::spec {
namespace {

constexpr double kMostSteps = 1'000'000;
constexpr double kMostRepeats = 1'000'000;
constexpr double kMostCores = 1'000'000;
constexpr double kLongestDelayS = 3600;  // of sleeps and modelled delays that recur
constexpr double kMostBytes = 1e15;      // sums of them fit in 64 bits

// Whether the second job takes a separate folder.
bool second_job_reads(const TrialSpec& trial) {
  const SecondJobKind kind = trial.second_job.kind;
  return kind == SecondJobKind::input || kind == SecondJobKind::both || kind == SecondJobKind::storage;
}

constexpr Condition kEmulated{is_emulated, "engine is emulated:<profile>"};
constexpr Condition kScaled{
    [](const TrialSpec& trial) { return is_emulated(trial) && trial.emulation.cores_per_accelerator > 0; },
    "engine is emulated:<profile> and emulation.cores_per_accelerator is above 0"};
constexpr Condition kMayUseGpus{[](const TrialSpec& trial) { return trial.engine == "auto" || trial.engine == "cuda"; },
                                "engine is auto or cuda"};

constexpr Condition kSteps{[](const TrialSpec& trial) { return trial.training.epochs == 0; }, "training.epochs is 0"};

constexpr Condition kBuckets{
    [](const TrialSpec& trial) { return has_engine(trial) && trial.comm.model != CommModel::none; },
    "engine and comm.model are not none"};
constexpr Condition kParameterServer{
    [](const TrialSpec& trial) { return trial.comm.update == UpdateScheme::parameter_server; },
    "comm.update is parameter_server"};
constexpr Condition kHierarchical{
    [](const TrialSpec& trial) { return trial.comm.update == UpdateScheme::hierarchical; },
    "comm.update is hierarchical"};
constexpr Condition kAlphaBeta{[](const TrialSpec& trial) { return trial.comm.model == CommModel::alpha_beta; },
                               "comm.model is alpha_beta"};
constexpr Condition kLinks{[](const TrialSpec& trial) {
                             return trial.comm.model == CommModel::alpha_beta || trial.comm.model == CommModel::shaped;
                           },
                           "comm.model is alpha_beta or shaped"};

constexpr Condition kSecondJob{has_second_job, "second_job.kind is not none"};
constexpr Condition kSecondTraining{[](const TrialSpec& trial) { return second_job_trains(trial.second_job); },
                                    "second_job.kind is training or both"};
constexpr Condition kSecondReader{second_job_reads, "second_job.kind is input, both or storage"};

std::vector<KeyRule> experiment_keys() {
  return {key_at(
      "experiment", [](auto& trial) -> auto& { return trial.name; }, "Title of the report and name of its folder.")};
}

std::vector<KeyRule> engine_keys() {
  constexpr auto emulation = &TrialSpec::emulation;
  return {
      key_at(
          "engine", [](auto& trial) -> auto& { return trial.engine; },
          "What trains: auto (the fastest real engine here), cuda (GPUs), onednn (CPUs), emulated:<profile of "
          "configs/accelerators>, or none (drops batches: the ceiling of the input side).")
          .one_of({"auto", "cuda", "onednn", "none"}, kEmulatedPrefix),
      key("emulation.cores_per_accelerator", emulation, &EmulationSpec::cores_per_accelerator,
          "Cores of one accelerator in a scale model, slowed down by their ratio to a rank's cores here; 0: no scale "
          "model.")
          .at_least(0)
          .at_most(kMostCores)
          .has_effect_where(kEmulated),
      key("emulation.core_speed", emulation, &EmulationSpec::core_speed,
          "Speed of a core here / speed of a core of the scale model.")
          .at_least(1e-6)
          .at_most(1e6)
          .has_effect_where(kScaled),
  };
}

std::vector<KeyRule> comm_keys() {
  constexpr auto comm = &TrialSpec::comm;
  return {
      key("comm.update", comm, &CommSpec::update,
          "How ranks average gradients: the library's all_reduce, or chexbench's own ring, tree, hierarchical (groups "
          "of ranks) or parameter_server.")
          .has_effect_where(kBuckets),
      key("comm.servers", comm, &CommSpec::servers, "Ranks, from 0 up, that each average a part of the gradients.")
          .at_least(1)
          .only_where(kParameterServer),
      key("comm.ranks_per_group", comm, &CommSpec::ranks_per_group,
          "Consecutive ranks that average among themselves first; 0: those of a host.")
          .at_least(0)
          .only_where(kHierarchical),
      key("comm.bucket_bytes", comm, &CommSpec::bucket_bytes,
          "Bytes of gradients averaged at once while backward continues.")
          .at_least(4)
          .at_most(kMostBytes)
          .has_effect_where(kBuckets),
      key("comm.first_bucket_bytes", comm, &CommSpec::first_bucket_bytes,
          "Bytes of the first bucket, small so that communication starts early.")
          .at_least(4)
          .at_most(kMostBytes)
          .has_effect_where(kBuckets),
      key("comm.gradient_dtype", comm, &CommSpec::gradient_dtype,
          "Type in which gradients in host memory are sent; they are summed in f32.")
          .has_effect_where(kBuckets),
      key("comm.model", comm, &CommSpec::model,
          "real: messages between processes; shaped: the same over slower links; with an emulated engine also "
          "alpha_beta (modelled times; ranks wait for each other in each step) or none (they do not)."),
      key("comm.backend", comm, &CommSpec::backend,
          "How gradients of GPUs are averaged: nccl, mpi (in host memory), or NCCL if every rank has it (auto).")
          .has_effect_where(kMayUseGpus),
      key("comm.stall_limit_s", comm, &CommSpec::stall_limit_s,
          "With engine cuda, a step longer than this and than 50 median steps ends the run, because a rank may have "
          "died; the first may take ten times as long.")
          .above(0)
          .at_most(kLongestWaitS)
          .has_effect_where(kMayUseGpus),
      key("comm.timeout_s", comm, &CommSpec::timeout_s,
          "A rank that waits longer than this for another in a step or validation, or anywhere for one that does not "
          "respond, ends the job with exit code 4; 0: no limit.")
          .at_least(0)
          .at_most(kLongestWaitS),
      key("comm.alpha_s", comm, &CommSpec::alpha_s, "Latency of a message.").at_most(kLongestDelayS).only_where(kLinks),
      key("comm.beta_bytes_per_s", comm, &CommSpec::beta_bytes_per_s, "Bandwidth of a link.")
          .at_least(1)
          .at_most(kMostBytes)
          .only_where(kLinks),
      key("comm.launch_s", comm, &CommSpec::launch_s, "Modelled fixed cost of a bucket.")
          .at_most(kLongestDelayS)
          .only_where(kAlphaBeta),
      key("comm.profile", comm, &CommSpec::profile,
          "What communication software adds to the time of the links: a name (`chexbench list`), or the path of a file "
          "like those of configs/communication.")
          .only_where(kAlphaBeta),
      key("comm.link", comm, &CommSpec::link,
          "Link between hosts by its name (`chexbench list`), instead of alpha_s and beta_bytes_per_s; empty: these.")
          .only_where(kAlphaBeta),
      key("comm.host_link", comm, &CommSpec::host_link,
          "Link between the ranks of a host by its name; empty: as between hosts.")
          .only_where(kAlphaBeta),
      key("comm.ranks_per_host", comm, &CommSpec::ranks_per_host,
          "Consecutive ranks that share a host in the modelled network; 0: every rank has its own.")
          .at_least(0)
          .only_where(kAlphaBeta),
  };
}

// Returns the rule of a key that is a count of at least 1 or one of these words, without its functions.
Key count_or_word(std::string path, std::vector<std::string> words, std::string description) {
  Key key{{.path = std::move(path),
           .description = std::move(description),
           .values = rule_of<int>(),
           .get = {},
           .set = {},
           .stated_where = {},
           .swept_where = {}}};
  return key.at_least(1).one_of(std::move(words));
}

std::vector<KeyRule> core_keys() {
  Key ranks = count_or_word("ranks", {"all"},
                            "Ranks to measure with: all, a number, or a list, for smaller worlds inside one job.");
  ranks.get = [](const TrialSpec& trial) { return trial.ranks == 0 ? Value("all") : Value(std::int64_t{trial.ranks}); };
  ranks.set = [](TrialSpec& trial, const Value& value) {
    const std::int64_t* count = std::get_if<std::int64_t>(&value);
    trial.ranks = count != nullptr ? static_cast<int>(*count) : 0;
  };
  Key cores = count_or_word(
      "cores_per_rank", {"auto", "all"},
      "Cores of each rank. auto: the host's cores / the ranks started on it, also in smaller worlds; with more ranks "
      "than cores, the extra ones get hyperthreads where available. all: every rank may use every core.");
  cores.get = [](const TrialSpec& trial) -> Value {
    if (trial.all_cores) return "all";
    if (!trial.cores_per_rank) return "auto";
    return std::int64_t{*trial.cores_per_rank};
  };
  cores.set = [](TrialSpec& trial, const Value& value) {
    const std::int64_t* count = std::get_if<std::int64_t>(&value);
    trial.cores_per_rank = count != nullptr ? std::optional(static_cast<int>(*count)) : std::nullopt;
    trial.all_cores = value == Value("all");
  };
  return {ranks, cores};
}

std::vector<KeyRule> second_job_keys() {
  constexpr auto job = &TrialSpec::second_job;
  return {
      key("second_job.kind", job, &SecondJobSpec::kind,
          "A second job on each host during the trial: one that reads and decodes like the trial (input), trains on "
          "ready-made batches, or does both; or one that uses up memory bandwidth, the page cache (dropping the "
          "trial's files) or storage."),
      key("second_job.cores", job, &SecondJobSpec::cores,
          "Its cores: those that the trial's ranks leave free (apart), theirs (shared), or cpus:0-3,8.")
          .one_of({"shared", "apart"}, "cpus:")
          .only_where(kSecondJob),
      key("second_job.engine", job, &SecondJobSpec::engine, "Engine of the second job.")
          .one_of({"onednn"}, kEmulatedPrefix)
          .only_where(kSecondTraining),
      key("second_job.root", job, &SecondJobSpec::root,
          "Folder of the images that the second job reads; empty: data.root.")
          .is_path()
          .only_where(kSecondReader),
  };
}

std::vector<KeyRule> measure_keys() {
  constexpr auto measure = &TrialSpec::measure;
  return {
      key("measure.warmup_steps", measure, &MeasureSpec::warmup_steps, "Steps before the measured ones.")
          .at_most(kMostSteps),
      key("measure.steps", measure, &MeasureSpec::steps, "Measured steps of a repeat.")
          .at_least(1)
          .at_most(kMostSteps)
          .only_where(kSteps),
      key("measure.repeats", measure, &MeasureSpec::repeats,
          "Repeats, each with a fresh pipeline and fresh weights; five or more give an interval. The default is 1 if "
          "training.epochs is set.")
          .at_least(1)
          .at_most(kMostRepeats),
      key("measure.extra_repeats", measure, &MeasureSpec::extra_repeats,
          "Most extra repeats (three times this if they are short) while a trial is unstable or has fewer undisturbed "
          "repeats than measure.repeats; none if that is below five, or measure.relative_error or training.epochs is "
          "set.")
          .at_least(0)
          .at_most(kMostRepeats),
      key("measure.page_cache", measure, &MeasureSpec::page_cache,
          "State of the files in the page cache before each repeat.")
          .has_effect_where(kUsesPipeline),
      key("measure.seed", measure, &MeasureSpec::seed, "Seed of shuffles and flips."),
      key("measure.attribution", measure, &MeasureSpec::attribution,
          "Ops time their work, to attribute waits to them."),
      key("measure.trace", measure, &MeasureSpec::trace,
          "Records what threads do in trace.json, which keeps the last repeat of each trial."),
      key("measure.max_seconds", measure, &MeasureSpec::max_seconds,
          "A trial ends after the repeat that exceeds this; null: no limit.")
          .above(0)
          .at_most(kLongestWaitS),
      key("measure.max_total_seconds", measure, &MeasureSpec::max_total_seconds,
          "Once all repeats together have taken this long, each trial still gets its first but no more, and a note "
          "lists the missing ones. Trials that alternate leave later ones their share. Opening data and building "
          "engines does not count. null: no limit.")
          .above(0)
          .at_most(kLongestWaitS),
      key("measure.relative_error", measure, &MeasureSpec::relative_error,
          "A trial ends when half of the 95 % interval is below this share of the median; null: never.")
          .above(0)
          .at_most(1),
      key("measure.target_au", measure, &MeasureSpec::target_au,
          "Share of the time that emulated accelerators must compute to pass, as in MLPerf Storage (0.9 or 0.85 "
          "there); a finding reports whether they do, or what holds them back; null: none.")
          .above(0)
          .at_most(1)
          .has_effect_where(kEmulated),
  };
}

std::vector<KeyRule> make_key_rules() {
  std::vector<KeyRule> rules;
  for (const auto make : {experiment_keys, data_keys, preprocess_keys, store_keys, model_keys, step_keys, update_keys,
                          epoch_keys, cuda_keys, engine_keys, comm_keys, core_keys, second_job_keys, measure_keys}) {
    std::ranges::move(make(), std::back_inserter(rules));
  }
  return rules;
}

}  // namespace

std::span<const KeyRule> key_rules() {
  static const std::vector<KeyRule> rules = make_key_rules();
  return rules;
}

const KeyRule* find_key(const std::string& path) {
  static const std::unordered_map<std::string_view, const KeyRule*> by_path = [] {
    std::unordered_map<std::string_view, const KeyRule*> rules;
    for (const KeyRule& rule : key_rules()) rules.emplace(rule.path, &rule);
    return rules;
  }();
  const auto found = by_path.find(path);
  return found == by_path.end() ? nullptr : found->second;
}

const std::string& second_job_root(const TrialSpec& trial) {
  const std::string& root = trial.second_job.root;
  return second_job_reads(trial) && !root.empty() ? root : trial.data.root;
}

bool lacks_second_job(const std::string& key, const TrialSpec& trial) {
  return !has_second_job(trial) && key.starts_with("second_job.") && key != "second_job.kind";
}

bool lacks_input(const std::string& key, const TrialSpec& trial) {
  if (uses_pipeline(trial)) return false;
  const KeyRule* rule = find_key(key);
  if (rule == nullptr) return true;  // the pipeline, or a parameter of an op
  const auto has_effect = [rule](const TrialSpec& some) {
    return rule->stated_where.holds(some) && rule->swept_where.holds(some);
  };
  TrialSpec with_input = trial;
  with_input.data.format = DataFormat::images;
  return !has_effect(trial) && has_effect(with_input);
}

}  // namespace chexbench::spec

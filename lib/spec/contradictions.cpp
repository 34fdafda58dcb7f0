#include "spec/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "spec/comm_profile.hpp"
#include "spec/interval.hpp"
#include "spec/key_lists.hpp"
#include "spec/keys.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::spec {
namespace {

// Throws a SpecError with this message if two options contradict each other.
template <typename... Args>
void refuse_if(bool contradictory, fmt::format_string<Args...> message, Args&&... args) {
  if (contradictory) throw SpecError(fmt::format(message, std::forward<Args>(args)...));
}

// Every report repeats the spec, so a secret in it would leak. A path may contain '@'.
void check_secrets(const std::string& key, const std::string& url) {
  refuse_if(
      is_url(url) && without_credentials(url) != url,
      "{} is a URL with a user, a query, a fragment or a port that is no number: it appears in every report, so it "
      "must hold no secret; keys come from the environment or from files",
      key);
}

void check_cached(const TrialSpec& trial) {
  refuse_if(trial.data.deliver != Deliver::u8,
            "data.format is cached, whose pixels are rounded to 8 bits, but data.deliver is f32, which does not round "
            "them: set data.deliver to u8, so that all formats give the same tensors");
  refuse_if(is_distant(trial) || trial.data.store.shape != StoreShape{},
            "data.format is cached, a file that is mapped: data.root must be a folder of this machine, without "
            "store.shape");
  refuse_if(trial.preprocess.resized_crop,
            "preprocess.resized_crop is true, but data.format is cached, whose pixels were resized already: read the "
            "images themselves (data.format images)");
  refuse_if(
      trial.preprocess.crop < 1,
      "preprocess.crop is {}, but data.format is cached, whose pixels were resized already: leave preprocess.crop "
      "at 1, or read the images themselves (data.format images)",
      trial.preprocess.crop);
  refuse_if(
      trial.data.jpeg == JpegDecode::scaled,
      "data.jpeg is scaled, but data.format is cached, whose pixels were decoded in full already: leave data.jpeg "
      "at full");
}

void check_input(const TrialSpec& trial) {
  refuse_if(trial.preprocess.resized_crop && trial.preprocess.crop < 1,
            "preprocess.resized_crop and preprocess.crop ({}) both say what is seen of an image: leave one out",
            trial.preprocess.crop);
  if (trial.data.format == DataFormat::cached) check_cached(trial);
  const bool is_cache_stated = trial.measure.page_cache != PageCache::as_is;
  const std::string cache = to_string(trial.measure.page_cache);
  if (!uses_pipeline(trial)) {
    refuse_if(is_cache_stated, "measure.page_cache is {}, but data.format 'ready' reads no files: leave it at as_is",
              cache);
    return;
  }
  refuse_if(trial.data.root.empty(),
            "data.root is missing: name the folder of the data set, for example --set data.root=data/nih");
  refuse_if(
      is_distant(trial) && is_cache_stated,
      "measure.page_cache is {}, but data.root is a URL, whose files this machine's page cache does not hold: leave "
      "it at as_is",
      cache);
}

void check_comm(const TrialSpec& trial) {
  const CommSpec& comm = trial.comm;
  refuse_if(comm.model == CommModel::shaped && comm.update == UpdateScheme::all_reduce,
            "comm.model is shaped, but the library's all_reduce cannot be slowed down: set comm.update to ring, tree, "
            "hierarchical or parameter_server");
  refuse_if(
      comm.model == CommModel::alpha_beta && comm.update == UpdateScheme::hierarchical && comm.ranks_per_group == 0,
      "comm.update is hierarchical, but a modelled network does not know its groups: set comm.ranks_per_group");
  if (comm.model == CommModel::alpha_beta) check_links(comm);
  refuse_if(comm.model == CommModel::shaped && !comm.link.empty(),
            "comm.link is {}, but shaped links are described by comm.alpha_s and comm.beta_bytes_per_s: set these",
            comm.link);
  const bool is_nccl = comm.backend == CommBackend::nccl;
  refuse_if(is_nccl && comm.update != UpdateScheme::all_reduce,
            "comm.update is {}, but NCCL chooses its own way: set comm.backend to mpi, or comm.update to all_reduce",
            to_string(comm.update));
  refuse_if(is_nccl && comm.gradient_dtype != FloatType::f32,
            "comm.gradient_dtype is {}, but NCCL averages gradients in the type that they have on the GPU: set "
            "comm.backend to mpi, or leave comm.gradient_dtype at f32",
            to_string(comm.gradient_dtype));
  refuse_if(!sends_gradients(comm.model) && !is_emulated(trial),
            "comm.model is {}, but engine {} communicates for real: only engine emulated:<profile> can have its "
            "communication modelled",
            to_string(comm.model), trial.engine);
}

void check_engine(const TrialSpec& trial) {
  refuse_if(!has_engine(trial) && trial.training.precision != Precision::f32,
            "training.precision is {}, but engine none computes nothing: leave it at f32",
            to_string(trial.training.precision));
  refuse_if(!has_engine(trial) && trial.model.weights != "random",
            "model.weights names a file, but engine none has no weights: leave it at random");
}

// Returns whether an op decodes with fewer threads than the scale model has cores.
bool has_too_few_threads(const OpSpec& op, int cores) {
  const std::string& at_once = op.rule().at_once;
  return op.rule().decodes() && !at_once.empty() && !op.holds_text(at_once) && op.integer(at_once) < cores;
}

// Rejects everything that would run at full speed while accelerators and links are slowed down.
void check_scale_model(const TrialSpec& trial) {
  const int cores = trial.emulation.cores_per_accelerator;
  if (cores == 0) return;
  const std::string asked = fmt::format("emulation.cores_per_accelerator is {}", cores);
  refuse_if(
      !is_emulated(trial),
      "{}, but engine {} runs at this machine's speed: only engine emulated:<profile> can be slowed down to scale",
      asked, trial.engine);
  refuse_if(trial.comm.model == CommModel::real,
            "{}, but comm.model real sends at this machine's speed: set comm.model to alpha_beta, shaped or none",
            asked);
  refuse_if(trial.measure.page_cache == PageCache::cold,
            "{}, but measure.page_cache cold reads at the speed of this machine's storage: slow the store down with "
            "store.shape instead, and leave page_cache at as_is or warm",
            asked);
  if (!uses_pipeline(trial)) return;
  for (const OpSpec& op : trial.pipeline.ops) {
    if (!has_too_few_threads(op, cores)) continue;
    const std::string& parameter = op.rule().at_once;
    throw SpecError(fmt::format(
        "{}, but {}.{} is {}: a thread here may decode as fast as all of these cores, so fewer threads than "
        "cores have no scale model",
        asked, op.op, parameter, op.integer(parameter)));
  }
}

void check_auto(const TrialSpec& trial) {
  if (!uses_pipeline(trial)) return;
  for (const OpSpec& op : trial.pipeline.ops) {
    const std::string* const parameter = parameter_to_tune(op);
    if (parameter == nullptr || op.flag("parallel") != false) continue;
    throw SpecError(
        fmt::format("{0}.{1} is auto, which finds how many files to read at once, but {0}.parallel is false, which "
                    "reads one after the other: set parallel to true, or {1} to a number such as 10",
                    op.op, *parameter));
  }
}

void check_training(const TrialSpec& trial) {
  const TrainingSpec& training = trial.training;
  // The step times of a profile assume that every layer is trained.
  refuse_if(trial.model.freeze != Freeze::none && is_emulated(trial),
            "model.freeze is {}, but engine {} has the time of a step that trains every layer: take engine onednn or "
            "cuda, or leave model.freeze at none",
            to_string(trial.model.freeze), trial.engine);
  if (training.epochs == 0) return;
  refuse_if(!has_engine(trial) || is_emulated(trial),
            "training.epochs is {}, but engine {} learns nothing: take one that does, or leave epochs at 0",
            training.epochs, trial.engine);
  refuse_if(!uses_pipeline(trial), "training.epochs is {}, but data.format 'ready' has no images to learn from",
            training.epochs);
  refuse_if(training.warmup_epochs > training.epochs,
            "training.warmup_epochs is {}, longer than the training's {} epochs", training.warmup_epochs,
            training.epochs);
}

void check_learning(const TrialSpec& trial) {
  const TrainingSpec& training = trial.training;
  stated_class_weights(training);
  refuse_if(training.label_smoothing >= 1,
            "training.label_smoothing is 1, which leaves nothing of the labels: it must be below 1, such as 0.1");
  refuse_if(training.ema_decay >= 1,
            "training.ema_decay is 1, an average that no weight ever changes: it must be below 1, such as 0.999");
  refuse_if(balances_classes(training) && !uses_pipeline(trial),
            "training.class_weights is balanced, but data.format 'ready' has no images to count: give numbers");
  refuse_if(training.task == Task::classes && training.target_auroc,
            "training.target_auroc is given, but training.task is classes, which is judged by top-1 and top-5: remove "
            "it");
}

void check_second_job(const TrialSpec& trial) {
  if (!has_second_job(trial)) return;
  const SecondJobSpec& job = trial.second_job;
  const std::string asked = fmt::format("second_job.kind is {}", to_string(job.kind));
  second_job_cpus(job.cores);
  refuse_if(trial.emulation.cores_per_accelerator > 0,
            "{}, but emulation.cores_per_accelerator makes a scale model, which is slowed down while the second job is "
            "not: leave it at 0",
            asked);
  refuse_if(trial.training.epochs > 0,
            "{}, but training.epochs is above 0: measure steps (training.epochs 0) to see what it costs", asked);
  const bool drops_cache = job.kind == SecondJobKind::page_cache;
  const bool needs_images = job.kind == SecondJobKind::input || job.kind == SecondJobKind::both || drops_cache;
  refuse_if(needs_images && !uses_pipeline(trial),
            "{}, but data.format is 'ready', which reads no files: take another format, or kind training or memory",
            asked);
  const std::string& root = second_job_root(trial);
  refuse_if((drops_cache || job.kind == SecondJobKind::storage) && (root.empty() || is_url(root)),
            "{}, which needs files of this machine: set data.root, or second_job.root for kind storage, to a folder",
            asked);
  const bool maps = trial.data.format != DataFormat::images && trial.data.store.read == FileReading::map;
  refuse_if(drops_cache && maps, "{}, but files that are mapped stay in the page cache: set store.read to copy", asked);
}

void check_swept(const std::string& key, const Condition& where, const Trial& trial) {
  if (where.holds(trial.spec)) return;
  throw SpecError(
      fmt::format("sweep.{} applies only where {}, which trial '{}' is not: its trials would all be the same", key,
                  where.in_words, trial.name));
}

void check_effect(const std::string& key, std::span<const Trial> trials) {
  const KeyRule* rule = find_key(key);
  bool varies = false;
  for (const Trial& trial : trials) {
    // A ceiling, or a trial without the second job, is a baseline for the trials that the key varies.
    if (lacks_input(key, trial.spec) || lacks_second_job(key, trial.spec)) continue;
    varies = true;
    if (rule == nullptr) continue;
    check_swept(key, rule->stated_where, trial);
    check_swept(key, rule->swept_where, trial);
  }
  if (varies) return;
  check_swept(key, kUsesPipeline, trials.front());
  if (rule != nullptr) check_swept(key, rule->stated_where, trials.front());
}

}  // namespace

void check_trial(const TrialSpec& trial) {
  check_secrets("data.root", trial.data.root);
  check_secrets("second_job.root", trial.second_job.root);
  check_secrets("store.endpoint", trial.data.store.endpoint);
  check_input(trial);
  check_comm(trial);
  check_engine(trial);
  check_scale_model(trial);
  check_auto(trial);
  check_training(trial);
  check_learning(trial);
  check_second_job(trial);
  refuse_if(trial.measure.trace && !trial.measure.attribution,
            "measure.trace needs the times of ops: leave measure.attribution at true");
  refuse_if(trial.measure.relative_error && trial.measure.repeats < kRepeatsForInterval,
            "measure.relative_error needs measure.repeats of at least {}, not {}: fewer give no interval",
            int{kRepeatsForInterval}, trial.measure.repeats);
}

void check_name(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  if (name.empty() || name.front() == '.' || !std::ranges::all_of(name, is_plain)) {
    throw SpecError(
        fmt::format("experiment must be a name for a folder (letters, digits, '-', '_' and '.', not first), not "
                    "\"{}\"",
                    name));
  }
}

void check_axes(const SweepSpec& sweep, std::span<const Trial> trials) {
  for (const Axis& axis : sweep.axes) {
    for (const Setting& setting : axis.points.front()) check_effect(setting.key, trials);
  }
}

void check_stated(const std::string& key, const std::string& path, std::span<const Trial> trials) {
  const KeyRule* rule = find_key(key);
  if (rule == nullptr) return;
  const Condition& where = rule->stated_where;
  if (std::ranges::none_of(trials, [&](const Trial& trial) { return where.holds(trial.spec); })) {
    throw SpecError(fmt::format("{} applies only where {}: set that, too, or leave it out", path, where.in_words));
  }
}

}  // namespace chexbench::spec

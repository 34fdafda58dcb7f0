#include "spec/contradictions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "spec/class_weights.hpp"
#include "spec/interval.hpp"
#include "spec/keys.hpp"
#include "spec/second_job_cpus.hpp"
#include "spec/url.hpp"

namespace chexbench::spec {
namespace {

// Every report repeats the spec, so a secret in it would leak. A path may contain '@'.
void check_secrets(const std::string& key, const std::string& url) {
  if (url.find("://") == std::string::npos || without_credentials(url) == url) return;
  throw SpecError(
      fmt::format("{} is a URL with a user, a query, a fragment or a port that is no number: it appears in every "
                  "report, so it must hold no secret; keys come from the environment or from files",
                  key));
}

void check_cached(const TrialSpec& experiment) {
  if (experiment.data.deliver != Deliver::u8) {
    throw SpecError(
        "data.format is cached, whose pixels are rounded to 8 bits, but data.deliver is f32, which does not "
        "round them: set data.deliver to u8, so that all formats give the same tensors");
  }
  if (is_distant(experiment) || experiment.data.store.shape != StoreShape{}) {
    throw SpecError(
        "data.format is cached, a file that is mapped: data.root must be a folder of this machine, without "
        "store.shape");
  }
  if (experiment.preprocess.resized_crop) {
    throw SpecError(
        "preprocess.resized_crop is true, but data.format is cached, whose pixels were resized already: read the "
        "images "
        "themselves (data.format png)");
  }
  if (experiment.preprocess.crop < 1) {
    throw SpecError(
        fmt::format("preprocess.crop is {}, but data.format is cached, whose pixels were resized already: leave "
                    "preprocess.crop at 1, or read the images themselves (data.format png)",
                    experiment.preprocess.crop));
  }
  if (experiment.data.jpeg == JpegDecode::scaled) {
    throw SpecError(
        "data.jpeg is scaled, but data.format is cached, whose pixels were decoded in full already: leave data.jpeg at "
        "full");
  }
}

void check_input(const TrialSpec& experiment) {
  if (experiment.preprocess.resized_crop && experiment.preprocess.crop < 1) {
    throw SpecError(
        fmt::format("preprocess.resized_crop and preprocess.crop ({}) both say what is seen of an image: leave one out",
                    experiment.preprocess.crop));
  }
  if (experiment.data.format == DataFormat::cached) check_cached(experiment);
  if (uses_pipeline(experiment)) {
    if (experiment.data.root.empty()) {
      throw SpecError("data.root is missing: name the folder of the data set, for example --set data.root=data/nih");
    }
    if (is_distant(experiment) && experiment.measure.page_cache != PageCache::as_is) {
      throw SpecError(
          fmt::format("measure.page_cache is {}, but data.root is a URL, whose files this machine's page "
                      "cache does not hold: leave it at as_is",
                      to_string(experiment.measure.page_cache)));
    }
  } else if (experiment.measure.page_cache != PageCache::as_is) {
    throw SpecError(fmt::format("measure.page_cache is {}, but data.format synthetic reads no files: leave it at as_is",
                                to_string(experiment.measure.page_cache)));
  }
}

void check_engine(const TrialSpec& experiment) {
  const CommSpec& comm = experiment.comm;
  if (comm.model == CommModel::shaped && comm.update == UpdateScheme::all_reduce) {
    throw SpecError(
        "comm.model is shaped, but the library's all_reduce cannot be slowed down: set comm.update to ring, tree, "
        "hierarchical or parameter_server");
  }
  if (comm.model == CommModel::alpha_beta && comm.update == UpdateScheme::hierarchical && comm.ranks_per_group == 0)
    throw SpecError("comm.update is hierarchical, but a modelled network has no hosts: set comm.ranks_per_group");
  if (comm.update != UpdateScheme::all_reduce && comm.backend == CommBackend::nccl) {
    throw SpecError(
        fmt::format("comm.update is {}, but NCCL chooses its own way: set comm.backend to mpi, or "
                    "comm.update to all_reduce",
                    to_string(comm.update)));
  }
  if (comm.gradient_dtype != FloatType::f32 && comm.backend == CommBackend::nccl) {
    throw SpecError(
        fmt::format("comm.gradient_dtype is {}, but NCCL averages gradients in the type that they have on the GPU: "
                    "set comm.backend to mpi, or leave comm.gradient_dtype at f32",
                    to_string(comm.gradient_dtype)));
  }
  if (!sends_gradients(comm.model) && !is_emulated(experiment)) {
    throw SpecError(
        fmt::format("comm.model is {}, but engine {} communicates for real: only engine emulated:<profile> can "
                    "have its communication modelled",
                    to_string(experiment.comm.model), experiment.engine));
  }
  if (has_engine(experiment)) return;
  if (experiment.training.precision != Precision::f32) {
    throw SpecError(fmt::format("training.precision is {}, but engine none computes nothing: leave it at f32",
                                to_string(experiment.training.precision)));
  }
  if (experiment.model.weights != "random") {
    throw SpecError("model.weights names a file, but engine none has no weights: leave it at random");
  }
}

// Returns whether an op decodes with fewer threads than the scale model has cores.
bool has_too_few_threads(const OpSpec& op, int cores) {
  const std::string& at_once = op.rule().at_once;
  return op.rule().decodes() && !at_once.empty() && !op.holds_text(at_once) && op.integer(at_once) < cores;
}

// Rejects everything that would run at full speed while accelerators and links are slowed down.
void check_scale_model(const TrialSpec& experiment) {
  const int cores = experiment.emulation.cores_per_accelerator;
  if (cores == 0) return;
  const std::string asked = fmt::format("emulation.cores_per_accelerator is {}", cores);
  if (!is_emulated(experiment)) {
    throw SpecError(
        fmt::format("{}, but engine {} runs at this machine's speed: only engine emulated:<profile> can be "
                    "slowed down to scale",
                    asked, experiment.engine));
  }
  if (experiment.comm.model == CommModel::real) {
    throw SpecError(
        asked + ", but comm.model real sends at this machine's speed: set comm.model to alpha_beta, shaped or none");
  }
  if (experiment.measure.page_cache == PageCache::cold) {
    throw SpecError(asked +
                    ", but measure.page_cache cold reads at the speed of this machine's storage: slow the store down "
                    "with store.shape instead, and leave page_cache at as_is or warm");
  }
  if (!uses_pipeline(experiment)) return;
  for (const OpSpec& op : experiment.pipeline.ops) {
    if (!has_too_few_threads(op, cores)) continue;
    const std::string& parameter = op.rule().at_once;
    throw SpecError(
        fmt::format("{}, but {}.{} is {}: a thread here may decode as fast as all of these cores, so fewer "
                    "threads than cores have no scale model",
                    asked, op.op, parameter, op.integer(parameter)));
  }
}

void check_auto(const TrialSpec& experiment) {
  if (!uses_pipeline(experiment)) return;
  for (const OpSpec& op : experiment.pipeline.ops) {
    const std::string* const parameter = parameter_to_tune(op);
    if (parameter == nullptr || op.flag("parallel") != false) continue;
    throw SpecError(
        fmt::format("{0}.{1} is auto, which finds how many files to read at once, but {0}.parallel is false, which "
                    "reads one after the other: set parallel to true, or {1} to a number such as 10",
                    op.op, *parameter));
  }
}

// The step times of a profile assume that every layer is trained.
void check_freeze(const TrialSpec& experiment) {
  if (experiment.model.freeze == Freeze::none || !is_emulated(experiment)) return;
  throw SpecError(fmt::format(
      "model.freeze is {}, but engine {} has the time of a step that trains every layer: take engine onednn "
      "or cuda, or leave model.freeze at none",
      to_string(experiment.model.freeze), experiment.engine));
}

void check_epochs(const TrialSpec& experiment) {
  if (experiment.training.epochs == 0) return;
  if (!has_engine(experiment) || is_emulated(experiment)) {
    throw SpecError(
        fmt::format("training.epochs is {}, but engine {} learns nothing: take one that does, or leave "
                    "epochs at 0",
                    experiment.training.epochs, experiment.engine));
  }
  if (!uses_pipeline(experiment)) {
    throw SpecError(fmt::format("training.epochs is {}, but data.format synthetic has no images to learn from",
                                experiment.training.epochs));
  }
  if (experiment.training.warmup_epochs > experiment.training.epochs) {
    throw SpecError(fmt::format("training.warmup_epochs is {}, longer than the training's {} epochs",
                                experiment.training.warmup_epochs, experiment.training.epochs));
  }
}

void check_learning(const TrialSpec& experiment) {
  const TrainingSpec& training = experiment.training;
  stated_class_weights(training);
  if (training.label_smoothing >= 1) {
    throw SpecError("training.label_smoothing is 1, which leaves nothing of the labels: it must be below 1, as 0.1");
  }
  if (training.ema_decay >= 1) {
    throw SpecError("training.ema_decay is 1, an average that no weight ever changes: it must be below 1, as 0.999");
  }
  if (balances_classes(training) && !uses_pipeline(experiment)) {
    throw SpecError(
        "training.class_weights is balanced, but data.format synthetic has no images to count: give numbers");
  }
  if (training.task == Task::classes && training.target_auroc) {
    throw SpecError(
        "training.target_auroc is given, but training.task is classes, which is judged by top-1 and top-5: remove it");
  }
}

void check_second_job(const TrialSpec& experiment) {
  if (!has_second_job(experiment)) return;
  const SecondJobSpec& job = experiment.second_job;
  const std::string asked = fmt::format("second_job.kind is {}", to_string(job.kind));
  second_job_cpus(job.cores);
  if (experiment.emulation.cores_per_accelerator > 0) {
    throw SpecError(asked +
                    ", but emulation.cores_per_accelerator makes a scale model, which is slowed down while the second "
                    "job is not: leave it at 0");
  }
  if (experiment.training.epochs > 0) {
    throw SpecError(asked + ", but training.epochs is above 0: measure steps (training.epochs 0) to see what it costs");
  }
  const bool needs_images =
      job.kind == SecondJobKind::input || job.kind == SecondJobKind::both || job.kind == SecondJobKind::page_cache;
  if (needs_images && !uses_pipeline(experiment)) {
    throw SpecError(asked +
                    ", but data.format is synthetic, which reads no files: take another format, or kind "
                    "training or memory");
  }
  const std::string& root = second_job_root(experiment);
  const bool needs_folder = job.kind == SecondJobKind::page_cache || job.kind == SecondJobKind::storage;
  if (needs_folder && (root.empty() || is_url(root))) {
    throw SpecError(asked +
                    ", which needs files of this machine: set data.root, or second_job.root for kind storage, "
                    "to a folder");
  }
  const bool maps = experiment.data.format != DataFormat::png && experiment.data.store.read == FileReading::map;
  if (job.kind == SecondJobKind::page_cache && maps) {
    throw SpecError(asked + ", but files that are mapped stay in the page cache: set store.read to copy");
  }
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
  check_swept(key, pipeline_condition(), trials.front());
  if (rule != nullptr) check_swept(key, rule->stated_where, trials.front());
}

}  // namespace

void check_trial(const TrialSpec& experiment) {
  check_secrets("data.root", experiment.data.root);
  check_secrets("second_job.root", experiment.second_job.root);
  check_secrets("store.endpoint", experiment.data.store.endpoint);
  check_input(experiment);
  check_engine(experiment);
  check_scale_model(experiment);
  check_auto(experiment);
  check_freeze(experiment);
  check_epochs(experiment);
  check_learning(experiment);
  check_second_job(experiment);
  if (experiment.measure.trace && !experiment.measure.attribution) {
    throw SpecError("measure.trace needs the times of ops: leave measure.attribution at true");
  }
  if (experiment.measure.relative_error && experiment.measure.repeats < kRepeatsForInterval) {
    throw SpecError(
        fmt::format("measure.relative_error needs measure.repeats of at least {}, not {}: fewer give no interval",
                    kRepeatsForInterval, experiment.measure.repeats));
  }
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

#include "spec/keys.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "spec/key_conditions.hpp"
#include "spec/key_making.hpp"

namespace chexbench::spec {
namespace {

constexpr double kMostSteps = 1'000'000;
constexpr double kMostRepeats = 1'000'000;
constexpr double kMostCores = 1'000'000;
constexpr double kLongestWaitS = 1e9;    // 32 years; in nanoseconds it fits in 64 bits
constexpr double kLongestDelayS = 3600;  // of sleeps and modelled delays that recur
constexpr double kMostBytes = 1e15;      // sums of them fit in 64 bits

KeyRule experiment_key() {
  KeyRule rule{
      "experiment", "Name of the experiment, the title of its report and the name of its folder.", {}, {}, {}, {}, {}};
  rule.get = [](const TrialSpec& experiment) { return experiment.name; };
  rule.set = [](TrialSpec& experiment, const Value& value) { experiment.name = std::get<std::string>(value); };
  return rule;
}

KeyRule model_name_key() {
  KeyRule rule = engine_only(key("model.name", &TrialSpec::model, &ModelSpec::name,
                                 "The network, like torchvision's, with an output for each label or class."));
  rule.values.words = {"resnet50", "densenet121", "alexnet", "googlenet", "mobilenet_v2"};
  return rule;
}

KeyRule engine_key() {
  KeyRule rule{"engine", "", {}, {}, {}, {}, {}};
  rule.description =
      "What trains: auto (the fastest real engine here), cuda (GPUs), onednn (CPUs), emulated:<profile of "
      "configs/accelerators>, none (drops batches: the ceiling of the input side).";
  rule.values.words = {"auto", "cuda", "onednn", "none"};
  rule.values.prefix = kEmulatedPrefix;
  rule.get = [](const TrialSpec& experiment) { return experiment.engine; };
  rule.set = [](TrialSpec& experiment, const Value& value) { experiment.engine = std::get<std::string>(value); };
  return rule;
}

KeyRule ranks_key() {
  KeyRule rule{
      "ranks", "Ranks to measure with: all, a number, or a list, which measures smaller worlds inside one larger job.",
      {},      {},
      {},      {},
      {}};
  rule.values = rule_of<int>();
  rule.values.minimum = 1;
  rule.values.words = {"all"};
  rule.get = [](const TrialSpec& experiment) -> Value {
    if (experiment.ranks == 0) return "all";
    return std::int64_t{experiment.ranks};
  };
  rule.set = [](TrialSpec& experiment, const Value& value) {
    const std::int64_t* ranks = std::get_if<std::int64_t>(&value);
    experiment.ranks = ranks != nullptr ? static_cast<int>(*ranks) : 0;
  };
  return rule;
}

KeyRule cores_per_rank_key() {
  KeyRule rule{"cores_per_rank", "", {}, {}, {}, {}, {}};
  rule.description =
      "Cores of each rank. auto: the host's cores / the ranks started on it, the same in every smaller world of the "
      "job; if there are more ranks than cores, the extra ones get hyperthreads where available. all: every rank may "
      "use every core.";
  rule.values = rule_of<int>();
  rule.values.minimum = 1;
  rule.values.words = {"auto", "all"};
  rule.get = [](const TrialSpec& experiment) -> Value {
    if (experiment.all_cores) return "all";
    if (!experiment.cores_per_rank) return "auto";
    return std::int64_t{*experiment.cores_per_rank};
  };
  rule.set = [](TrialSpec& experiment, const Value& value) {
    experiment.cores_per_rank.reset();
    if (const std::int64_t* cores = std::get_if<std::int64_t>(&value)) {
      experiment.cores_per_rank = static_cast<int>(*cores);
    }
    const std::string* word = std::get_if<std::string>(&value);
    experiment.all_cores = word != nullptr && *word == "all";
  };
  return rule;
}

void add_epoch_keys(std::vector<KeyRule>& rules) {
  constexpr auto training = &TrialSpec::training;
  rules.push_back(at_most(
      100'000, key("training.epochs", training, &TrainingSpec::epochs,
                   "Passes over the training images, each followed by a validation; 0: measure.steps instead.")));
  rules.push_back(epochs_only(key("training.schedule", training, &TrainingSpec::schedule,
                                  "Schedule of the learning rate: constant, cosine (half a cosine down to 0), or "
                                  "plateau (lower after each plateau of the validation loss).")));
  rules.push_back(at_most(100'000, epochs_only(key("training.warmup_epochs", training, &TrainingSpec::warmup_epochs,
                                                   "Epochs in which the learning rate rises from 0."))));
  rules.push_back(epochs_only(key("training.scale_learning_rate", training, &TrainingSpec::scale_learning_rate,
                                  "Multiplies the learning rate by the number of ranks.")));
  rules.push_back(plateau_only(at_least(1, key("training.plateau_patience", training, &TrainingSpec::plateau_patience,
                                               "Epochs without a better validation loss that count as a plateau."))));
  rules.push_back(plateau_only(at_most(1, key("training.plateau_factor", training, &TrainingSpec::plateau_factor,
                                              "Factor applied to the learning rate at a plateau."))));
  rules.push_back(
      epochs_only(at_most(100'000, at_least(0, key("training.stop_patience", training, &TrainingSpec::stop_patience,
                                                   "Training stops after this many epochs without a better mean AUROC "
                                                   "(or loss, if no label has an AUROC); 0: never.")))));
  rules.push_back(epochs_only(
      at_least(0, at_most(0.9, key("training.validation_share", training, &TrainingSpec::validation_share,
                                   "Share of the split's patients held out for validation, which ImageNet's validation "
                                   "shards replace; 0: validates on the training images.")))));
  rules.push_back(epochs_only(
      path_key(key("training.checkpoint", training, &TrainingSpec::checkpoint,
                   "Path of a checkpoint to continue from, on any number of ranks; empty: a new training."))));
  rules.push_back(
      epochs_only(at_most(1, above(0.5, key("training.target_auroc", training, &TrainingSpec::target_auroc,
                                            "Mean AUROC; the time to reach it is reported. null: none.")))));
}

void add_training_keys(std::vector<KeyRule>& rules) {
  constexpr auto model = &TrialSpec::model;
  constexpr auto training = &TrialSpec::training;
  rules.push_back(model_name_key());
  rules.push_back(at_most(4096, at_least(32, key("model.image_size", model, &ModelSpec::image_size,
                                                 "Height and width of the network's input, in pixels."))));
  rules.push_back(trained_only(path_key(
      key("model.weights", model, &ModelSpec::weights,
          "random, or the path of a safetensors file with torchvision's names, such as scripts/weights makes."))));
  rules.push_back(trained_only(key("model.batch_norm", model, &ModelSpec::batch_norm,
                                   "Batch statistics (train), or fixed running statistics (frozen).")));
  rules.push_back(trained_only(key("model.freeze", model, &ModelSpec::freeze,
                                   "base: only the last layer is trained, and batch norms use fixed running "
                                   "statistics; none: all layers.")));
  rules.push_back(
      trained_only(key("model.dropout", model, &ModelSpec::dropout,
                       "Whether training drops units if the network does (alexnet, googlenet, mobilenet_v2).")));
  rules.push_back(trained_only(key("model.seed", model, &ModelSpec::seed, "Seed of random weights and of dropout.")));
  rules.push_back(at_most(65536, at_least(1, key("training.batch_size", training, &TrainingSpec::batch_size,
                                                 "Local batch: images of one rank's batch."))));
  rules.push_back(
      at_most(4096, engine_only(at_least(1, key("training.accumulate_steps", training, &TrainingSpec::accumulate_steps,
                                                "Batches of a rank whose gradients are averaged before one reduction "
                                                "between ranks and one update; together they make one step.")))));
  rules.push_back(
      engine_only(key("training.overlap_input", training, &TrainingSpec::overlap_input,
                      "Whether the next batch is prepared while the engine computes. If false, it is requested only "
                      "after the previous one finishes, so input and training overlap only with a prefetch.")));
  rules.push_back(engine_only(
      key("training.precision", training, &TrainingSpec::precision, "Precision of the arithmetic; weights are f32.")));
  rules.push_back(trained_only(
      key("training.optimizer", training, &TrainingSpec::optimizer, "Optimizer, with the formulas of torch.optim.")));
  rules.push_back(at_most(
      1e15, trained_only(key("training.learning_rate", training, &TrainingSpec::learning_rate, "Learning rate."))));
  rules.push_back(at_most(
      1, trained_only(sgd_only(key("training.momentum", training, &TrainingSpec::momentum, "Momentum of SGD.")))));
  add_learning_keys(rules);
  add_epoch_keys(rules);
  rules.push_back(cuda_only(key("training.deterministic", training, &TrainingSpec::deterministic,
                                "The same bits every time on the same device, with slower convolutions.")));
  rules.push_back(cuda_only(
      key("training.fused", training, &TrainingSpec::fused,
          "Fuses convolutions with neighboring ops where measured to be faster, and pools with the preceding norm.")));
  rules.push_back(
      at_most(kLongestWaitS, above(0, cuda_only(key("training.tuning_s", training, &TrainingSpec::tuning_s,
                                                    "Seconds spent timing convolutions that are new to this GPU; after "
                                                    "that, each takes the first plan that runs; null: no limit.")))));
  rules.push_back(cuda_only(key("training.cuda_graph", training, &TrainingSpec::cuda_graph,
                                "Launches a step as one CUDA graph if communication allows it.")));
  rules.push_back(
      cuda_only(key("training.concurrent_weight_gradients", training, &TrainingSpec::concurrent_weight_gradients,
                    "Weight gradients of convolutions run on a second stream, concurrently with the following passes "
                    "of backward. This takes more memory, and was 1 to 2 % slower on an H200.")));
}

void add_emulation_keys(std::vector<KeyRule>& rules) {
  constexpr auto emulation = &TrialSpec::emulation;
  rules.push_back(at_most(
      kMostCores,
      emulated_only(at_least(0, key("emulation.cores_per_accelerator", emulation, &EmulationSpec::cores_per_accelerator,
                                    "Cores of one accelerator in a scale model, which slows it down by their ratio to "
                                    "a rank's cores here and reports rates at full scale; 0: no scale model.")))));
  rules.push_back(
      at_most(1e6, scaled_only(at_least(1e-6, key("emulation.core_speed", emulation, &EmulationSpec::core_speed,
                                                  "Speed of a core here / speed of a core of the scale model.")))));
}

void add_comm_keys(std::vector<KeyRule>& rules) {
  constexpr auto comm = &TrialSpec::comm;
  rules.push_back(buckets_only(key("comm.update", comm, &CommSpec::update,
                                   "How ranks average gradients: the library's all_reduce, or chexbench's own ring, "
                                   "tree, hierarchical (groups of ranks) or parameter_server.")));
  rules.push_back(
      scheme_only(UpdateScheme::parameter_server, "comm.update is parameter_server",
                  at_least(1, key("comm.servers", comm, &CommSpec::servers,
                                  "Number of ranks, from 0 up, that each average a part of the gradients."))));
  rules.push_back(scheme_only(UpdateScheme::hierarchical, "comm.update is hierarchical",
                              at_least(0, key("comm.ranks_per_group", comm, &CommSpec::ranks_per_group,
                                              "Consecutive ranks that average among themselves first; 0: those of a "
                                              "host."))));
  rules.push_back(at_most(
      kMostBytes, buckets_only(at_least(4, key("comm.bucket_bytes", comm, &CommSpec::bucket_bytes,
                                               "Bytes of gradients averaged at once while backward continues.")))));
  rules.push_back(
      at_most(kMostBytes,
              buckets_only(at_least(4, key("comm.first_bucket_bytes", comm, &CommSpec::first_bucket_bytes,
                                           "Bytes of the first bucket, small so that communication starts early.")))));
  rules.push_back(buckets_only(
      key("comm.gradient_dtype", comm, &CommSpec::gradient_dtype,
          "Type in which gradients in host memory are sent; they are summed in f32. 16-bit types halve the traffic.")));
  rules.push_back(key("comm.model", comm, &CommSpec::model,
                      "real: messages between processes; shaped: the same over slower links, so that schemes differ on "
                      "one host; with an emulated engine also alpha_beta (times are modelled, and ranks wait for each "
                      "other in each step) or none (they do not)."));
  rules.push_back(gpu_only(
      key("comm.backend", comm, &CommSpec::backend,
          "How gradients of GPUs are averaged: nccl, mpi (in host memory), or NCCL if every rank has it (auto).")));
  rules.push_back(at_most(
      kLongestWaitS,
      above(0, gpu_only(key("comm.stall_limit_s", comm, &CommSpec::stall_limit_s,
                            "A step that takes longer than this many seconds and than 50 median steps ends the run, "
                            "because a rank may have died; the first step is allowed ten times as long.")))));
  rules.push_back(at_most(
      kLongestWaitS,
      at_least(0, key("comm.timeout_s", comm, &CommSpec::timeout_s,
                      "A rank that waits longer than this many seconds for another one in a step or validation, or "
                      "anywhere for one that does not respond, ends the job with exit code 4; 0: no limit."))));
  rules.push_back(at_most(
      kLongestDelayS, links_only(key("comm.alpha_s", comm, &CommSpec::alpha_s, "Latency of a message, in seconds."))));
  rules.push_back(
      at_most(kMostBytes, links_only(at_least(1, key("comm.beta_bytes_per_s", comm, &CommSpec::beta_bytes_per_s,
                                                     "Bandwidth of a link, in bytes/s.")))));
  rules.push_back(at_most(kLongestDelayS, alpha_beta_only(key("comm.launch_s", comm, &CommSpec::launch_s,
                                                              "Modelled fixed cost of a bucket, in seconds."))));
}

KeyRule second_job_cores_key() {
  KeyRule rule = second_job_only(key("second_job.cores", &TrialSpec::second_job, &SecondJobSpec::cores,
                                     "Where the second job runs: on the cores that the trial's ranks leave free "
                                     "(apart), on the same cores (shared), or on cpus:0-3,8."));
  rule.values.words = {"shared", "apart"};
  rule.values.prefix = "cpus:";
  return rule;
}

KeyRule second_job_engine_key() {
  KeyRule rule = second_training_only(
      key("second_job.engine", &TrialSpec::second_job, &SecondJobSpec::engine, "Engine of the second job."));
  rule.values.words = {"onednn"};
  rule.values.prefix = kEmulatedPrefix;
  return rule;
}

void add_second_job_keys(std::vector<KeyRule>& rules) {
  rules.push_back(
      key("second_job.kind", &TrialSpec::second_job, &SecondJobSpec::kind,
          "A second job on each host during the trial: none; one that reads and decodes like the trial (input), trains "
          "on ready-made batches (training), or does both; or one that uses up a resource: memory bandwidth (memory), "
          "the page cache (page_cache, which drops the trial's files) or storage."));
  rules.push_back(second_job_cores_key());
  rules.push_back(second_job_engine_key());
  rules.push_back(
      second_reader_only(path_key(key("second_job.root", &TrialSpec::second_job, &SecondJobSpec::root,
                                      "Folder of the images that the second job reads; empty: data.root."))));
}

void add_measure_keys(std::vector<KeyRule>& rules) {
  constexpr auto measure = &TrialSpec::measure;
  rules.push_back(at_most(
      kMostSteps, key("measure.warmup_steps", measure, &MeasureSpec::warmup_steps, "Steps before the measured ones.")));
  rules.push_back(at_most(kMostSteps, at_least(1, steps_only(key("measure.steps", measure, &MeasureSpec::steps,
                                                                 "Measured steps of a repeat.")))));
  rules.push_back(
      at_most(kMostRepeats, at_least(1, key("measure.repeats", measure, &MeasureSpec::repeats,
                                            "Repeats, each with a fresh pipeline and fresh weights; five or more give "
                                            "an interval. The default is 1 if training.epochs is set."))));
  rules.push_back(at_most(
      kMostRepeats,
      at_least(0, key("measure.extra_repeats", measure, &MeasureSpec::extra_repeats,
                      "Most extra repeats, or three times this if they are short. They are added if measure.repeats is "
                      "at least five, and neither measure.relative_error nor training.epochs is set, while a trial is "
                      "unstable or has fewer undisturbed repeats than measure.repeats."))));
  rules.push_back(input_only(key("measure.page_cache", measure, &MeasureSpec::page_cache,
                                 "State of the files in the page cache before each repeat.")));
  rules.push_back(key("measure.seed", measure, &MeasureSpec::seed, "Seed of shuffles and flips."));
  rules.push_back(key("measure.attribution", measure, &MeasureSpec::attribution,
                      "Ops time their work, so that waits can be attributed to them."));
  rules.push_back(key("measure.trace", measure, &MeasureSpec::trace,
                      "Records what threads do; trace.json keeps the last repeat of each trial."));
  rules.push_back(
      at_most(kLongestWaitS, above(0, key("measure.max_seconds", measure, &MeasureSpec::max_seconds,
                                          "A trial ends after the repeat that exceeds this; null: no limit."))));
  rules.push_back(at_most(
      kLongestWaitS,
      above(
          0,
          key("measure.max_total_seconds", measure, &MeasureSpec::max_total_seconds,
              "Once the repeats of all trials have taken this long, each trial still gets its first repeat but no "
              "more, and a note lists the missing ones. Trials that alternate leave later ones their share: the first "
              "4 of 8 trials may take half. Opening the data and building engines does not count. null: no limit."))));
  rules.push_back(at_most(
      1, above(0, key("measure.relative_error", measure, &MeasureSpec::relative_error,
                      "A trial ends when the half width of the 95 % interval is below this share of the median; "
                      "null: never."))));
  rules.push_back(at_most(
      1,
      above(0,
            emulated_only(key(
                "measure.target_au", measure, &MeasureSpec::target_au,
                "Share of the time that emulated accelerators must spend computing to pass, as in MLPerf Storage (0.9 "
                "or 0.85 there); a finding reports whether they do and, if not, what holds them back; null: none.")))));
}

std::vector<KeyRule> make_key_rules() {
  std::vector<KeyRule> rules = {experiment_key()};
  add_data_keys(rules);
  add_training_keys(rules);
  rules.push_back(engine_key());
  add_emulation_keys(rules);
  add_comm_keys(rules);
  rules.push_back(ranks_key());
  rules.push_back(cores_per_rank_key());
  add_second_job_keys(rules);
  add_measure_keys(rules);
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

bool lacks_second_job(const std::string& key, const TrialSpec& experiment) {
  return !has_second_job(experiment) && key.starts_with("second_job.") && key != "second_job.kind";
}

bool lacks_input(const std::string& key, const TrialSpec& experiment) {
  if (uses_pipeline(experiment)) return false;
  const KeyRule* rule = find_key(key);
  if (rule == nullptr) return true;  // the pipeline, or a parameter of an op
  const auto has_effect = [rule](const TrialSpec& trial) {
    return rule->stated_where.holds(trial) && rule->swept_where.holds(trial);
  };
  TrialSpec with_input = experiment;
  with_input.data.format = DataFormat::png;
  return !has_effect(experiment) && has_effect(with_input);
}

}  // namespace chexbench::spec

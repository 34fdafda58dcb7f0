#include "verbs/predict/prediction_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "analysis/derive.hpp"
#include "core/errors.hpp"
#include "measure/statistics.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/comm_profile.hpp"
#include "spec/keys.hpp"

namespace chexbench::verbs {
namespace {

// A training to predict, before its input and its network are known.
struct Arm {
  std::string name;
  spec::TrialSpec spec;
  std::vector<const results::TrialResult*> input;  // trials that measured its input
};

bool measures_input(const results::TrialResult& trial) {
  return !spec::has_engine(trial.spec) && trial.spec.data.format != spec::DataFormat::ready && !trial.repeats.empty();
}

// The size of the batch, the network and the optimizer are not compared: the work for each image is the same.
bool same_input(const spec::TrialSpec& a, const spec::TrialSpec& b) {
  return a.data.format == b.data.format && a.data.decoder == b.data.decoder && a.data.deliver == b.data.deliver &&
         spec::color_of(a.data) == spec::color_of(b.data) && a.preprocess == b.preprocess && a.pipeline == b.pipeline &&
         a.model.image_size == b.model.image_size;
}

std::string input_name(const spec::TrialSpec& spec) {
  const std::string pipeline = results::pipeline_name(spec);
  return fmt::format("{}{}{}", pipeline, pipeline.empty() ? "" : " ", to_string(spec.data.format));
}

std::vector<const results::TrialResult*> input_trials(const PredictionRequest& request) {
  std::vector<const results::TrialResult*> trials;
  for (const results::TrialResult& trial : request.measured) {
    if (measures_input(trial)) trials.push_back(&trial);
  }
  if (trials.empty() && !request.measured.empty()) {
    throw DataError(
        "the reports have no trial that measures the input alone; run the experiment once more with --set engine=none");
  }
  return trials;
}

// Returns the spec without ranks and cores, which the prediction varies, and without settings of the measurement, so
// that trials of one arm become equal.
// @throws SpecError if the accelerator contradicts the spec's engine, if neither names a profile, or if input and
// training do not overlap
spec::TrialSpec arm_of(spec::TrialSpec spec, const PredictionRequest& request) {
  const std::string& accelerator = request.accelerator;
  const bool emulated = spec::is_emulated(spec);
  const std::string engine = accelerator.empty() ? spec.engine : std::string(spec::kEmulatedPrefix) + accelerator;
  if (!accelerator.empty() && emulated && spec.engine != engine) {
    throw SpecError(fmt::format("--accelerator {} contradicts the spec's engine '{}'; leave one of them out",
                                accelerator, spec.engine));
  }
  if (!engine.starts_with(spec::kEmulatedPrefix)) {
    throw SpecError(fmt::format("a prediction needs an accelerator's profile: give --accelerator PROFILE ({})",
                                fmt::join(spec::profile_names(), ", ")));
  }
  if (!spec.training.overlap_input) {
    throw SpecError(
        "training.overlap_input is false, but predict assumes that input and training overlap; add "
        "--set training.overlap_input=true");
  }
  const spec::TrialSpec any;
  spec.engine = engine;
  spec.training.precision = request.precision.value_or(spec.training.precision);
  spec.ranks = any.ranks;
  spec.cores_per_rank = any.cores_per_rank;
  spec.all_cores = any.all_cores;
  spec.measure = any.measure;
  return spec;
}

void add_arm(std::vector<Arm>& arms, const spec::TrialSpec& spec) {
  if (std::ranges::any_of(arms, [&spec](const Arm& arm) { return arm.spec == spec; })) return;
  arms.push_back({.name = input_name(spec), .spec = spec, .input = {}});
}

void find_input(Arm& arm, const std::vector<const results::TrialResult*>& trials) {
  std::vector<std::string> known;
  for (const results::TrialResult* trial : trials) {
    if (same_input(trial->spec, arm.spec)) arm.input.push_back(trial);
    known.push_back(
        fmt::format("{} {}x{}", input_name(trial->spec), trial->spec.model.image_size, trial->spec.model.image_size));
  }
  if (!trials.empty() && arm.input.empty()) {
    throw DataError(fmt::format("the reports have not measured the input of {} {}x{}; they have: {}", arm.name,
                                arm.spec.model.image_size, arm.spec.model.image_size, fmt::join(known, ", ")));
  }
}

std::vector<Arm> find_arms(const PredictionRequest& request) {
  const std::vector<const results::TrialResult*> trials = input_trials(request);
  std::vector<Arm> arms;
  for (const spec::Trial& trial : request.trials) add_arm(arms, arm_of(trial.spec, request));
  if (request.trials.empty()) {
    for (const results::TrialResult* trial : trials) add_arm(arms, arm_of(trial->spec, request));
  }
  for (Arm& arm : arms) find_input(arm, trials);
  return arms;
}

void check(const PredictionRequest& request) {
  const bool given_link = request.alpha_s || request.beta_bytes_per_s;
  if (request.trials.empty() && request.measured.empty()) {
    throw SpecError("predict: nothing to start from; give --config SPEC, or --report DIR of a run with engine none");
  }
  if (request.input_images_per_s && !request.measured.empty()) {
    throw SpecError("--input-rate contradicts --report, which measured it; leave one of them out");
  }
  if (request.cores_per_rank && request.measured.empty()) {
    throw SpecError("--cores-per-rank: needs the images/s of a core, which --report gives");
  }
  if (request.storage_bytes_per_s && request.measured.empty()) {
    throw SpecError("--storage-bytes-s: needs the bytes of an image, which --report gives");
  }
  const int links = (given_link ? 1 : 0) + (request.link ? 1 : 0) + (request.measured_link ? 1 : 0);
  if (links + (request.fit.empty() ? 0 : 1) > 1) {
    throw SpecError(
        "--alpha and --beta, --link, --comm FILE, and --fit each give the network's figures; leave all but one out");
  }
}

InputSide input_of(const PredictionRequest& request, const Arm& arm) {
  InputSide input;
  if (!arm.input.empty()) {
    input = measured_input(arm.input);
    input.cores_per_rank = request.cores_per_rank ? request.cores_per_rank : input.measured_cores_per_rank;
    input.images_per_s_per_rank = *input.images_per_s_per_core * *input.cores_per_rank;
  } else {
    input.images_per_s_per_rank = request.input_images_per_s;
    input.every_rank_decodes_all = request.input_images_per_s && spec::decodes_before_shard(arm.spec.pipeline);
  }
  input.storage_bytes_per_s = request.storage_bytes_per_s;
  if (request.storage_bytes_per_s && !input.bytes_per_image) {
    throw DataError(fmt::format("--storage-bytes-s: {} read no bytes while it was measured", arm.name));
  }
  return input;
}

// Describes the link between hosts by its latency and bandwidth instead of a name.
void set_link(spec::CommSpec& comm, double alpha_s, double beta_bytes_per_s) {
  comm.link.clear();
  comm.alpha_s = alpha_s;
  comm.beta_bytes_per_s = beta_bytes_per_s;
}

Network network_of(const PredictionRequest& request, const spec::CommSpec& spec) {
  static const spec::CommSpec defaults;
  Network network{.comm = spec};
  spec::CommSpec& comm = network.comm;
  comm.profile = request.comm_profile.value_or(spec.profile);
  comm.host_link = request.host_link.value_or(spec.host_link);
  comm.ranks_per_host = request.ranks_per_host.value_or(spec.ranks_per_host);
  comm.launch_s = request.launch_s.value_or(spec.launch_s);
  if (request.alpha_s || request.beta_bytes_per_s) {
    spec::NamedLink link{.alpha_s = spec.alpha_s, .beta_bytes_per_s = spec.beta_bytes_per_s};
    if (!spec.link.empty()) link = spec::find_link(spec.link);
    set_link(comm, request.alpha_s.value_or(link.alpha_s), request.beta_bytes_per_s.value_or(link.beta_bytes_per_s));
  }
  if (request.link) {
    set_link(comm, defaults.alpha_s, defaults.beta_bytes_per_s);
    comm.link = *request.link;
  }
  if (request.measured_link) {
    set_link(comm, request.measured_link->alpha_s, request.measured_link->beta_bytes_per_s);
    network.known = {.min = request.measured_link->min_ranks, .max = request.measured_link->max_ranks};
    network.known_min_bytes = request.measured_link->min_bytes;
    network.known_max_bytes = request.measured_link->max_bytes;
  }
  spec::check_links(comm, "give --ranks-per-host");
  return network;
}

// Returns the spread of a rank's computing over the steps of the reports' trainings of this network on real devices, or
// 0 if there is none. It is 1.4826 MAD / median, so that a few disturbed steps do not count.
double measured_spread(const PredictionRequest& request, const spec::ModelSpec& model) {
  double spread = 0;
  std::size_t most_steps = 1;
  for (const results::TrialResult& trial : request.measured) {
    if (!spec::has_engine(trial.spec) || trial.emulated || trial.spec.model.name != model.name) continue;
    std::vector<double> times_s;
    for (const results::RepeatResult& repeat : trial.repeats)
      for (const results::StepRecord& step : repeat.steps)
        times_s.push_back(step.timings.compute_s + step.timings.update_s);
    if (times_s.size() <= most_steps) continue;
    most_steps = times_s.size();
    spread = 1.4826 * measure::median_absolute_deviation(times_s) / measure::median(times_s);
  }
  return spread;
}

void fit(Training& training, const PredictionRequest& request, PredictionArm& arm) {
  const engine::StepPlan plan = plan_step(training, 2);
  if (training.scaling == Scaling::strong) throw SpecError("--fit: takes figures of weak scaling");
  const ScalingFit fitted =
      fit_scaling(plan, training.training.batch_size * plan.batches, request.fit, training.network.comm);
  set_link(training.network.comm, fitted.alpha_s, fitted.beta_bytes_per_s);
  const auto [few, many] = std::ranges::minmax(request.fit, {}, &ScalingPoint::ranks);
  training.network.known = {.min = few.ranks, .max = many.ranks};
  arm.notes.push_back(
      fmt::format("Alpha and beta were fitted to trainings, off by {:.1f} % (rms). They include "
                  "everything that slows several ranks, such as stragglers and shared input.",
                  100 * fitted.rms_error));
  arm.fit_rms_error = fitted.rms_error;
}

void compare(std::vector<PredictionRow>& rows, const std::vector<ScalingPoint>& points, bool fitted) {
  for (const ScalingPoint& point : points) {
    const auto row = std::ranges::find(rows, point.ranks, &PredictionRow::ranks);
    row->known_images_per_s = point.images_per_s;
    row->fitted = fitted;
  }
}

// Returns the requested numbers of ranks, or else the powers of 2 that the batch allows, plus those with requested
// needs or known rates.
std::vector<int> all_ranks(const PredictionRequest& request, int batch_size) {
  std::set<int> ranks(request.ranks.begin(), request.ranks.end());
  const int most = request.scaling == Scaling::weak ? kMostRanks : std::min(kMostRanks, batch_size);
  for (int n = 1; request.ranks.empty() && n <= most; n *= 2) ranks.insert(n);
  if (request.for_ranks) ranks.insert(*request.for_ranks);
  for (const ScalingPoint& point : request.fit) ranks.insert(point.ranks);
  for (const ScalingPoint& point : request.check) ranks.insert(point.ranks);
  return {ranks.begin(), ranks.end()};
}

PredictionArm predict_arm(const PredictionRequest& request, const Arm& arm) {
  Training training{
      .model = arm.spec.model,
      .training = arm.spec.training,
      .profile = spec::load_profile(arm.spec.engine.substr(spec::kEmulatedPrefix.size())),
      .outputs = arm.spec.data.labels.classes > 0 ? static_cast<int>(arm.spec.data.labels.classes) : kNihLabels,
      .scaling = request.scaling,
      .input = input_of(request, arm),
      .network = network_of(request, arm.spec.comm),
      .step_spread = request.step_spread ? *request.step_spread : measured_spread(request, arm.spec.model)};
  const spec::ProfileEntry speed = speed_of(training, 1);
  PredictionArm result{
      .name = fmt::format("{}, {} {}x{} {}, batch {}, on {}", arm.name, speed.model, speed.image_size, speed.image_size,
                          to_string(speed.precision), arm.spec.training.batch_size, training.profile.name),
      .pipeline = arm.spec.pipeline.name,
      .format = to_string(arm.spec.data.format),
      .model = speed.model,
      .image_size = speed.image_size,
      .precision = to_string(speed.precision),
      .batch_size = arm.spec.training.batch_size,
      .profile = training.profile.name,
      .accelerator = training.profile.device,
      .source = speed.source,
      .speed_computed = speed.computed,
      .scaling = request.scaling == Scaling::weak ? "weak" : "strong"};
  if (!request.fit.empty()) fit(training, request, result);
  const std::vector<int> ranks = all_ranks(request, training.training.batch_size);
  const spec::CommProfile software = spec::load_comm_profile(training.network.comm.profile);
  const spec::CommSpec comm = engine::on_links(training.network.comm, software, ranks.back());
  result.comm_profile = comm.profile;
  result.link = comm.link;
  result.host_link = comm.host_link;
  result.ranks_per_host = comm.ranks_per_host;
  result.step_spread = training.step_spread;
  result.alpha_s = comm.alpha_s;
  result.beta_bytes_per_s = comm.beta_bytes_per_s;
  result.launch_s = comm.launch_s;
  result.grade = training.input.grade;
  result.input_images_per_s_per_rank = training.input.images_per_s_per_rank;
  result.cores_per_rank = training.input.cores_per_rank;
  result.rows = predict(training, ranks);
  compare(result.rows, request.fit, true);
  compare(result.rows, request.check, false);
  const std::vector<std::string> notes = prediction_notes(training, result.rows);
  result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  if (request.for_ranks) result.requirement = require(training, *request.for_ranks, request.efficiency);
  return result;
}

// Returns the grade of a measured input's rate: that of its least certain trial.
results::Grade grade_of_input(const std::vector<const results::TrialResult*>& trials) {
  results::Grade grade = results::Grade::told_apart;
  for (const results::TrialResult* trial : trials) {
    if (results::is_disturbed(*trial)) return results::Grade::machine_too_busy;
    if (analysis::derive_figures(*trial, {}).buffer_fed) {
      grade = results::Grade::sample_too_small;
    } else if (trial->unstable && grade == results::Grade::told_apart) {
      grade = results::Grade::cannot_tell;
    }
  }
  return grade;
}

}  // namespace

InputSide measured_input(const std::vector<const results::TrialResult*>& trials) {
  InputSide input;
  int most = 0;
  for (const results::TrialResult* trial : trials) {
    const results::Figures figures = analysis::derive_figures(*trial, {});
    if (!figures.images_per_s_per_core) continue;
    input.known = {.min = input.known ? std::min(input.known->min, trial->ranks) : trial->ranks,
                   .max = std::max(most, trial->ranks)};
    if (trial->ranks < most) continue;
    most = trial->ranks;
    input.every_rank_decodes_all = spec::decodes_before_shard(trial->spec.pipeline);
    input.images_per_s_per_core = *figures.images_per_s_per_core * (input.every_rank_decodes_all ? most : 1);
    input.measured_cores_per_rank = trial->cores_per_rank;
    double bytes = 0;
    double images = 0;
    for (const results::RepeatResult& repeat : trial->repeats) {
      bytes += static_cast<double>(repeat.bytes_read);
      images += static_cast<double>(repeat.images_decoded);
    }
    input.bytes_per_image = bytes > 0 && images > 0 ? std::optional(bytes / images) : std::nullopt;
  }
  if (most == 0) {
    throw DataError(
        fmt::format("the ranks of {} shared cores while its input was measured, so images/s of a core are "
                    "not known; run it with cores_per_rank auto",
                    input_name(trials.front()->spec)));
  }
  input.grade = grade_of_input(trials);
  for (const results::TrialResult* trial : trials) {
    if (trial->cores_per_rank == input.measured_cores_per_rank && !trial->oversubscribed && !trial->repeats.empty())
      input.measured_images_per_s[trial->ranks] = results::median_rate(*trial);
  }
  return input;
}

Prediction predict_all(const PredictionRequest& request) {
  check(request);
  const std::vector<Arm> arms = find_arms(request);
  if (arms.size() > 1 && !(request.fit.empty() && request.check.empty())) {
    throw SpecError(fmt::format("--fit and --check: figures of one training, but there are {} trials", arms.size()));
  }
  Prediction prediction;
  for (const Arm& arm : arms) prediction.arms.push_back(predict_arm(request, arm));
  return prediction;
}

}  // namespace chexbench::verbs

#include "analysis/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "analysis/ablation.hpp"
#include "analysis/commands.hpp"
#include "analysis/comparison.hpp"
#include "analysis/derive.hpp"
#include "analysis/economics.hpp"
#include "analysis/input_findings.hpp"
#include "analysis/learning.hpp"
#include "analysis/second_job.hpp"
#include "analysis/utilization.hpp"
#include "analysis/verdict.hpp"
#include "core/text.hpp"
#include "measure/statistics.hpp"
#include "results/figures.hpp"
#include "results/gpu_summary.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

constexpr double kAmplified = 1.25;     // images decoded per image trained; more is worth a sentence
constexpr double kToldShare = 0.005;    // of the time in communication; less rounds to 0 %
constexpr double kToldSpread = 0.05;    // over ranks; from here on the slowest is named
constexpr double kCeilingFactor = 1.2;  // pipeline alone / training; from here on training is the bottleneck

// Compares each of `trials` with the first one before it in `all` from which it differs in `aspect` alone.
void compare_arms(const Trials& trials, const Trials& all, const Aspect& aspect,
                  std::vector<results::Finding>& findings) {
  for (const Pair& pair : pairs(trials, all, aspect))
    findings.push_back(comparison(aspect.kind, pair, compared(pair) + ".", pair.base_name(aspect)));
}

void find_amplification(const Trials& trials, std::vector<results::Finding>& findings) {
  for (const Measured& measured : trials) {
    const std::optional<double>& decoded = measured.figures.decoded_per_trained;
    if (!decoded || *decoded < kAmplified) continue;
    const bool is_of_others = measured.trial.ranks > 1 && spec::decodes_before_shard(measured.trial.spec.pipeline);
    const std::string cause =
        is_of_others
            ? fmt::format(": its {} ranks decode what they do not keep; a shard after list_files prevents that",
                          measured.trial.ranks)
            : "";
    const double share = std::min(1 - 1 / *decoded, measured.has_engine() ? *measured.figures.wait_share : 1);
    findings.push_back(
        {.kind = "amplification",
         .text = fmt::format("{} decodes {:.1f} images for each one it {}{}.", measured.name(), *decoded,
                             measured.has_engine() ? "trains on" : "delivers", cause),
         .emulated = measured.trial.emulated,
         .trial = measured.trial.name,
         .headline = fmt::format("decodes {:.1f} images for each one that it {}", *decoded,
                                 measured.has_engine() ? "trains on" : "delivers"),
         .reason = is_of_others
                       ? fmt::format("Each of its {} ranks decodes images that it does not keep.", measured.trial.ranks)
                       : "The work on images that it does not deliver is lost.",
         .advice = is_of_others ? "Put a shard after list_files, so that a rank reads its own images." : "",
         .worth_share = std::max(share, 0.0)});
  }
}

void find_verdicts(const Trials& trials, std::vector<results::Finding>& findings) {
  for (const Measured& measured : trials) {
    for (results::Finding& finding : verdicts(measured.trial, measured.figures)) findings.push_back(std::move(finding));
  }
}

// Returns "; 12 % of the time went into communication not overlapped with backward", or "" if all of it was.
std::string communication(const results::Figures& figures) {
  const double share = figures.exposed_communication_share.value_or(0);
  if (share < kToldShare) return "";
  return fmt::format("; {:.0f} % of the time went into communication not overlapped with backward", 100 * share);
}

// Returns "; rank 3 took 8 % longer than the fastest for its own part of a step", or the spread if it is small.
std::string straggler(const results::TrialResult& trial) {
  const std::optional<RankSpread> spread = rank_spread(trial);
  if (!spread) return "";
  if (spread->spread < kToldSpread) return fmt::format("; its ranks differ by {:.1f} %", 100 * spread->spread);
  return fmt::format("; rank {} took {:.0f} % longer than the fastest for its own part of a step", spread->slowest,
                     100 * spread->spread);
}

void find_scaling(const Trials& trials, std::vector<results::Finding>& findings) {
  for (const Measured& measured : trials) {
    const std::optional<double>& efficiency = measured.figures.scaling_efficiency;
    if (!efficiency || measured.trial.ranks == 1) continue;
    const char* shared = measured.trial.oversubscribed ? ", although the ranks shared cores" : "";
    const char* linear = *efficiency >= kLinearEfficiency ? ", which is linear" : "";
    results::Finding finding{
        .kind = "scaling",
        .text = fmt::format("{} reaches {:.0f} % of {} times its images/s at 1 rank (weak scaling{}){}{}{}.",
                            measured.name(), 100 * *efficiency, measured.trial.ranks, shared, linear,
                            communication(measured.figures), straggler(measured.trial)),
        .emulated = measured.trial.emulated,
        .trial = measured.trial.name,
        .headline =
            fmt::format("reaches {:.0f} % of {} times its images/s at 1 rank", 100 * *efficiency, measured.trial.ranks),
        .worth_share = results::is_disturbed(measured.trial) ? 0 : std::clamp(1 - *efficiency, 0.0, 1.0)};
    if (const double share = measured.figures.exposed_communication_share.value_or(0); share >= kToldShare)
      finding.reason =
          fmt::format("Communication not overlapped with backward takes {:.0f} % of the time.", 100 * share);
    findings.push_back(std::move(finding));
  }
}

void leave_out_input(spec::TrialSpec& spec) {
  spec.data = {.deliver = spec.data.deliver};
  spec.preprocess = {};
  spec.pipeline = {};
  spec.measure.page_cache = {};
}

void leave_out_engine(spec::TrialSpec& spec) { spec.engine = "none"; }

// Compares training with the same training over ready-made batches, the upper limit for any input.
void find_compute_ceilings(const Trials& trials, const Trials& all, std::vector<results::Finding>& findings) {
  Rivals rivals(all, leave_out_input);
  const auto is_ready_made = [](const Measured& other) { return !spec::uses_pipeline(other.trial.spec); };
  for (const Measured& fed : trials) {
    if (is_ready_made(fed) || !fed.has_engine()) continue;
    const Measured* const ceiling = rivals.first(fed, is_ready_made);
    if (ceiling == nullptr) continue;
    const std::optional<Pair> pair = pair_of(fed, *ceiling);
    if (!pair) continue;
    findings.push_back(comparison("ceiling", *pair,
                                  fmt::format("{}; the batches of {} are ready-made, so no input can give more.",
                                              compared(*pair), ceiling->name()),
                                  "ready-made batches"));
  }
}

// Compares real training with the same pipeline and engine none, to find which of the two is the limit.
void find_ceilings(const Trials& trials, const Trials& all, std::vector<results::Finding>& findings) {
  Rivals rivals(all, leave_out_engine);
  for (const Measured& training : trials) {
    if (!training.has_engine() || training.trial.emulated) continue;
    const Measured* const alone = rivals.first(training, [](const Measured& other) { return !other.has_engine(); });
    if (alone == nullptr) continue;
    const double factor = alone->images_per_s() / training.images_per_s();
    const bool is_limit = factor < kCeilingFactor;
    const char* meaning =
        is_limit ? "the pipeline limits this training" : "the pipeline is not what limits this training";
    findings.push_back(
        {.kind = "ceiling",
         .text =
             fmt::format("{}: {} trains {} images/s, the pipeline alone delivers {} ({:.1f} x): {}.", training.name(),
                         training.trial.engine_device.empty() ? "the device" : training.trial.engine_device,
                         rate_text(training.images_per_s()), rate_text(alone->images_per_s()), factor, meaning),
         .trial = training.trial.name,
         .headline = fmt::format("trains {} images/s, of {} that its pipeline delivers",
                                 rate_text(training.images_per_s()), rate_text(alone->images_per_s())),
         .reason = fmt::format("At {:.1f} x {}.", factor, meaning),
         .worth_share = is_limit ? std::max(*training.figures.wait_share, 0.0) : 0});
  }
}

// Findings from NVML's figures for a trial.

constexpr double kThrottledShare = 0.05;      // of the samples; more is worth a sentence
constexpr double kUtilizationGap = 0.2;       // between NVML's utilization and busy_share; more is worth a sentence
constexpr double kBusy = 0.9, kPartly = 0.5;  // of NVML's utilization and of the multiprocessors
constexpr double kEnoughForUtilizationS = 3;  // length of a window; its first second does not count

// Returns "sw_power_cap 42 %, hw_slowdown 1 %; the SM clock fell to 1200 MHz, 690 W a GPU, up to 87 C".
std::string throttle_numbers(const measure::GpuWindow& gpu) {
  std::vector<std::string> reasons;
  for (const auto& [word, share] : gpu.throttle) reasons.push_back(fmt::format("{} {:.0f} %", word, 100 * share));
  std::vector<std::string> levels;
  if (gpu.lowest_sm_clock_hz)
    levels.push_back(fmt::format("the SM clock fell to {:.0f} MHz", *gpu.lowest_sm_clock_hz / 1e6));
  if (gpu.mean_power_w) levels.push_back(fmt::format("{:.0f} W a GPU", *gpu.mean_power_w));
  if (gpu.highest_temperature_c) levels.push_back(fmt::format("up to {:.0f} C", *gpu.highest_temperature_c));
  return fmt::format("{}{}{}", fmt::join(reasons, ", "), levels.empty() ? "" : "; ", fmt::join(levels, ", "));
}

void find_throttling(const results::TrialResult& trial, const results::Figures& figures,
                     std::vector<results::Finding>& findings) {
  const double share = figures.gpu.throttled_share.value_or(0);
  if (share <= kThrottledShare) return;
  findings.push_back(
      {.kind = "throttled",
       .text = fmt::format("{}: power or heat throttled the GPU's clocks in {:.0f} % of the samples ({}).", trial.name,
                           100 * share, throttle_numbers(figures.gpu)),
       .trial = trial.name,
       .headline = fmt::format("had its GPU's clocks throttled in {:.0f} % of samples", 100 * share),
       .reason = fmt::format("The cause is power or heat: {}.", throttle_numbers(figures.gpu)),
       .advice = "Check the cooling and the power limit.",
       .command = "nvidia-smi -q -d POWER,TEMPERATURE,PERFORMANCE",
       .worth_share = share});
}

void find_difference(const results::TrialResult& trial, const results::Figures& figures,
                     std::vector<results::Finding>& findings) {
  const std::optional<double>& nvml = figures.gpu.mean_utilization;
  if (!nvml || !figures.busy_share || std::abs(*nvml - *figures.busy_share) <= kUtilizationGap) return;
  findings.push_back(
      {.kind = "nvml_differs",
       .text = fmt::format("{}: NVML's utilization is {:.0f} %, the busy share {:.0f} %: NVML counts the time in which "
                           "any kernel runs, however small, the busy share that of upload, compute and update.",
                           trial.name, 100 * *nvml, 100 * *figures.busy_share),
       .trial = trial.name,
       .headline =
           fmt::format("is busy {:.0f} % of the time, {:.0f} % by NVML", 100 * *figures.busy_share, 100 * *nvml),
       .reason = "NVML counts the time in which any kernel runs, however small; the busy share upload, compute and "
                 "update."});
}

// A kernel on a few multiprocessors keeps NVML's utilization at 100 %.
void find_idle_multiprocessors(const results::TrialResult& trial, const results::Figures& figures,
                               std::vector<results::Finding>& findings) {
  const std::optional<double>&nvml = figures.gpu.mean_utilization, &active = figures.gpu.mean_sm_activity;
  if (!nvml || !active || *nvml < kBusy || *active > kPartly) return;
  findings.push_back(
      {.kind = "partly_busy",
       .text = fmt::format("{}: NVML's utilization is {:.0f} %, but {:.0f} % of the multiprocessors were busy: kernels "
                           "are too small for this GPU; a larger training.batch_size may help.",
                           trial.name, 100 * *nvml, 100 * *active),
       .trial = trial.name,
       .headline = fmt::format("keeps {:.0f} % of the GPU's multiprocessors busy", 100 * *active),
       .reason =
           fmt::format("Its kernels are too small for this GPU, although NVML's utilization is {:.0f} %.", 100 * *nvml),
       .advice = "Try a larger batch.",
       .command = run_again(trial, fmt::format("training.batch_size={}", 2 * trial.spec.training.batch_size)),
       .worth_share = 1 - *active});
}

// Returns the longest measured window of a GPU whose utilization NVML reports, or 0 if there is no such GPU.
double longest_window_s(const results::TrialResult& trial) {
  double longest_s = 0;
  for (const results::RepeatResult& repeat : trial.repeats) {
    for (const results::GpuSeries& gpu : repeat.gpus) {
      const std::optional<results::TimeSpan> window = results::measured_window(repeat, gpu.rank);
      const bool tells = std::any_of(gpu.samples.begin(), gpu.samples.end(),
                                     [](const measure::GpuSample& sample) { return sample.utilization.has_value(); });
      if (window && tells) longest_s = std::max(longest_s, window->end_s - window->begin_s);
    }
  }
  return longest_s;
}

void find_short_windows(const results::TrialResult& trial, const results::Figures& figures,
                        std::vector<results::Finding>& findings) {
  const double window_s = longest_window_s(trial);
  if (figures.gpu.mean_utilization || window_s <= 0 || window_s >= kEnoughForUtilizationS) return;
  // The data set determines the steps per epoch.
  const bool by_epochs = trial.spec.training.epochs > 0;
  const char* const key = by_epochs ? "training.epochs" : "measure.steps";
  const double enough = std::ceil((by_epochs ? trial.spec.training.epochs : trial.spec.measure.steps) *
                                  kEnoughForUtilizationS / window_s);
  findings.push_back({.kind = "nvml_window",
                      .text = fmt::format("{}: gpu_utilization is empty because NVML averages over up to 1 s and the "
                                          "measured windows take {:.2g} s: raise {} to {:.0f}.",
                                          trial.name, window_s, key, enough),
                      .trial = trial.name,
                      .headline = fmt::format("is measured for {:.2g} s, too short for NVML's utilization", window_s),
                      .reason = "NVML averages over up to 1 s.",
                      .advice = by_epochs ? "Train more epochs." : "Measure more steps.",
                      .command = run_again(trial, fmt::format("{}={:.0f}", key, enough))});
}

std::vector<results::Finding> gpu_findings(const results::TrialResult& trial, const results::Figures& figures) {
  std::vector<results::Finding> findings;
  find_throttling(trial, figures, findings);
  find_difference(trial, figures, findings);
  find_idle_multiprocessors(trial, figures, findings);
  find_short_windows(trial, figures, findings);
  return findings;
}

// Uncorrected ECC errors occurred while the trial was measured.
std::vector<results::Finding> ecc_findings(const results::TrialResult& trial, const results::Figures& figures) {
  const std::uint64_t errors = figures.gpu.new_uncorrected_ecc_errors.value_or(0);
  if (errors == 0) return {};
  return {{.kind = "ecc_errors",
           .text = fmt::format("{}: {} uncorrected ECC error{} occurred in GPU memory while it was measured: its "
                               "results may be wrong; `nvidia-smi -q -d ECC` shows which GPU to replace.",
                               trial.name, errors, errors == 1 ? "" : "s"),
           .trial = trial.name,
           .headline = fmt::format("had {} uncorrected ECC error{} in GPU memory", errors, errors == 1 ? "" : "s"),
           .reason = "Its results may be wrong.",
           .advice = "Find out which GPU to replace.",
           .command = "nvidia-smi -q -d ECC",
           .worth_share = 1}};
}

}  // namespace

std::vector<results::Finding> derive_findings(const std::vector<results::TrialResult>& trials) {
  const Trials measured = measured_trials(trials);
  const Trials chosen = widest(measured);
  std::vector<results::Finding> findings;
  for (const Aspect& aspect : input_aspects()) compare_arms(chosen, measured, aspect, findings);
  find_amplification(chosen, findings);
  find_verdicts(chosen, findings);
  find_scaling(chosen, findings);
  find_ceilings(chosen, measured, findings);
  find_compute_ceilings(chosen, measured, findings);
  const auto append = [&findings](std::vector<results::Finding> more) {
    findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  for (const Measured& one : chosen) append(utilization_findings(one.trial, one.figures));
  for (const Measured& one : chosen) append(input_findings(one.trial, one.figures));
  std::vector<const results::TrialResult*> chosen_trials;
  for (const Measured& one : chosen) chosen_trials.push_back(&one.trial);
  append(second_job_findings(second_job_costs(chosen, measured)));
  append(ablation_findings(chosen_trials));
  std::vector<const results::TrialResult*>
      all_trials;  // also with fewer ranks: learning should not depend on the ranks
  for (const Measured& one : measured) all_trials.push_back(&one.trial);
  append(learning_findings(all_trials));
  append(economics_findings(chosen_trials));
  append(data_findings(all_trials));
  for (const Measured& one : chosen) append(gpu_findings(one.trial, one.figures));
  for (const Measured& one : measured) append(ecc_findings(one.trial, one.figures));
  return findings;
}

}  // namespace chexbench::analysis

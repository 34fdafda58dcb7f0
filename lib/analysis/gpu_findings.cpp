#include "analysis/gpu_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analysis/commands.hpp"
#include "results/figures.hpp"
#include "results/gpu_summary.hpp"

namespace chexbench::analysis {
namespace {

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
       .text = fmt::format("{}: power or heat held the GPU's clocks down in {:.0f} % of the samples ({}).", trial.name,
                           100 * share, throttle_numbers(figures.gpu)),
       .trial = trial.name,
       .headline = fmt::format("had its GPU's clocks held down in {:.0f} % of samples", 100 * share),
       .reason = fmt::format("Power or heat did it: {}.", throttle_numbers(figures.gpu)),
       .advice = "See to cooling and to the power limit.",
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
                      .text = fmt::format("{}: gpu_utilization is empty, as NVML averages over up to 1 s and the "
                                          "measured windows take {:.2g} s: raise {} to {:.0f}.",
                                          trial.name, window_s, key, enough),
                      .trial = trial.name,
                      .headline = fmt::format("is measured for {:.2g} s, too short for NVML's utilization", window_s),
                      .reason = "NVML averages over up to 1 s.",
                      .advice = by_epochs ? "Train more epochs." : "Measure more steps.",
                      .command = run_again(trial, fmt::format("{}={:.0f}", key, enough))});
}

}  // namespace

std::vector<results::Finding> gpu_findings(const results::TrialResult& trial, const results::Figures& figures) {
  std::vector<results::Finding> findings;
  find_throttling(trial, figures, findings);
  find_difference(trial, figures, findings);
  find_idle_multiprocessors(trial, figures, findings);
  find_short_windows(trial, figures, findings);
  return findings;
}

std::vector<results::Finding> ecc_findings(const results::TrialResult& trial, const results::Figures& figures) {
  const std::uint64_t errors = figures.gpu.new_uncorrected_ecc_errors.value_or(0);
  if (errors == 0) return {};
  return {{.kind = "ecc_errors",
           .text = fmt::format("{}: {} uncorrected ECC error{} came up in GPU memory while it was measured: what it "
                               "computed may be wrong; `nvidia-smi -q -d ECC` tells which GPU to replace.",
                               trial.name, errors, errors == 1 ? "" : "s"),
           .trial = trial.name,
           .headline = fmt::format("had {} uncorrected ECC error{} in GPU memory", errors, errors == 1 ? "" : "s"),
           .reason = "What it computed may be wrong.",
           .advice = "Find out which GPU to replace.",
           .command = "nvidia-smi -q -d ECC",
           .worth_share = 1}};
}

}  // namespace chexbench::analysis

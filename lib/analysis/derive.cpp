#include "analysis/derive.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "analysis/learning.hpp"
#include "analysis/utilization.hpp"
#include "analysis/verdict.hpp"
#include "measure/statistics.hpp"
#include "results/gpu_summary.hpp"
#include "results/rates.hpp"
#include "results/record.hpp"
#include "spec/resolved.hpp"

namespace chexbench::analysis {
namespace {

using measure::StepTimings;

// Returns part / whole, or std::nullopt if `whole` is not positive.
std::optional<double> ratio(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

// Returns part / whole, limited to 0 to 1: the clocks of threads and of steps can differ by a few percent.
std::optional<double> share_of(double part, double whole) {
  return whole > 0 ? std::optional(std::clamp(part / whole, 0.0, 1.0)) : std::nullopt;
}

// The repeats that shares of the time come from.
using Repeats = std::vector<const results::RepeatResult*>;

// Sums one part of the steps' time over all steps of all ranks.
double sum_s(const Repeats& repeats, double StepTimings::*part) {
  double sum = 0;
  for (const results::RepeatResult* repeat : repeats) {
    for (const results::StepRecord& step : repeat->steps) sum += step.timings.*part;
  }
  return sum;
}

// Sums the waits by op and part, over ranks and repeats. Leaves out waits that were not attributed to an op (index -1).
void derive_waits(const Repeats& repeats, double wall_s, results::Figures& figures) {
  std::map<std::tuple<int, std::string, std::string>, double> sums;
  for (const results::RepeatResult* repeat : repeats) {
    for (const measure::WaitBooking& wait : repeat->waits) sums[{wait.op_index, wait.op, wait.part}] += wait.wait_s;
  }
  for (const auto& [booked, wait_s] : sums) {
    const auto& [index, op, part] = booked;
    if (index >= 0)
      figures.waits.push_back({.op_index = index, .op = op, .part = part, .share = *share_of(wait_s, wall_s)});
  }
  std::ranges::stable_sort(figures.waits, std::ranges::greater{}, &results::WaitShare::share);
  if (figures.waits.empty()) return;
  figures.wait_op = figures.waits.front().op;
  figures.wait_part = figures.waits.front().part;
}

// Computes how busy the ranks' cores were. Only the measured window counts, because that is when every rank has its
// cores.
void derive_cores(const results::TrialResult& trial, const Repeats& repeats, results::Figures& figures) {
  double cpu_s = 0, cpu_wait_s = 0, core_s = 0;
  for (const results::RepeatResult* repeat : repeats) {
    cpu_s += repeat->process_cpu_s;
    cpu_wait_s += repeat->cpu_wait_s;
    core_s += repeat->wall_s * trial.ranks * trial.cores_per_rank;
  }
  if (!trial.oversubscribed) figures.cores_busy_share = share_of(cpu_s, core_s);
  // Ranks of a scale model take turns on cores; at full scale, each has its own.
  if (trial.scale_factor == 1) figures.cpu_wait_share = share_of(cpu_wait_s, core_s);
}

void derive_shares(const Repeats& repeats, results::Figures& figures) {
  const double wall_s = sum_s(repeats, &StepTimings::wall_s);
  const auto share = [&](double StepTimings::*part) { return share_of(sum_s(repeats, part), wall_s); };
  figures.wait_share = share(&StepTimings::wait_s);
  figures.upload_share = share(&StepTimings::upload_s);
  figures.compute_share = share(&StepTimings::compute_s);
  figures.exposed_communication_share = share(&StepTimings::exposed_communication_s);
  figures.update_share = share(&StepTimings::update_s);
  figures.other_share = share(&StepTimings::other_s);
  if (figures.wait_share.value_or(0) >= results::kFedShare) derive_waits(repeats, wall_s, figures);
  if (wall_s > 0)
    figures.busy_share = std::min(1.0, *figures.upload_share + *figures.compute_share + *figures.update_share);
}

std::optional<double> decoded_per_trained(const results::TrialResult& trial) {
  if (trial.spec.data.format == spec::DataFormat::ready) return std::nullopt;
  double decoded = 0;
  double used = 0;
  for (const results::RepeatResult& repeat : trial.repeats) {
    decoded += static_cast<double>(repeat.images_decoded);
    used += static_cast<double>(repeat.images_trained) + static_cast<double>(repeat.images_held_change);
  }
  return ratio(decoded, used);
}

// Ranks that share cores slow each other down, which would look like bad scaling. Emulated compute needs no cores.
bool comparable_over_ranks(const results::TrialResult& trial) {
  return !trial.spec.all_cores && (!trial.oversubscribed || trial.emulated) && !trial.repeats.empty();
}

// Returns whether `single` can be the base of the trial's scaling, if it is of the same arm.
bool is_single_of(const results::TrialResult& single, const results::TrialResult& trial) {
  return single.ranks == 1 && single.cores_per_rank == trial.cores_per_rank && comparable_over_ranks(single);
}

// Derives how far the trial scales from its arm's trial on one rank, unless that is null. Trials with different
// ranks do not alternate, so the interval is that of an unpaired ratio.
void derive_scaling(const results::TrialResult& trial, const results::TrialResult* single, results::Figures& figures) {
  if (single == nullptr || !comparable_over_ranks(trial)) return;
  figures.speedup = ratio(results::median_rate(trial), results::median_rate(*single));
  figures.scaling_efficiency = ratio(results::median_rate(trial), trial.ranks * results::median_rate(*single));
  if (trial.ranks == 1) return;  // compared with itself
  const auto ci95 = measure::unpaired_ratio(results::rates(trial), results::rates(*single)).ci95;
  if (ci95) figures.scaling_efficiency_ci95 = measure::Interval{ci95->low / trial.ranks, ci95->high / trial.ranks};
}

void derive_learning(const results::TrialResult& trial, results::Figures& figures) {
  const results::EpochRecord* const epoch = representative_epoch(trial);
  if (epoch == nullptr) return;
  figures.mean_auroc = epoch->mean_auroc;
  figures.mean_auroc_ci95 = epoch->mean_auroc_ci95;
  figures.top1 = epoch->top1;
  figures.top1_ci95 = epoch->top1_ci95;
  figures.top5 = epoch->top5;
  figures.best_epoch = epoch->epoch;
  figures.time_to_auroc_s = time_to_auroc_s(trial);
}

results::Figures figures_of(const results::TrialResult& trial, const results::TrialResult* single) {
  results::Figures figures;
  figures.buffer_fed = results::is_buffer_fed(trial);
  for (const results::RepeatResult& repeat : trial.repeats) {
    figures.peak_rss_bytes = std::max(figures.peak_rss_bytes, repeat.peak_rss_bytes);
    figures.anonymous_rss_bytes = std::max(figures.anonymous_rss_bytes, repeat.anonymous_rss_bytes);
  }
  if (trial.repeats.empty()) return figures;
  const std::vector<double> images_per_s = results::rates(trial);
  figures.images_per_s = measure::median(images_per_s);
  if (images_per_s.size() > 1) figures.images_per_s_mad = measure::median_absolute_deviation(images_per_s);
  figures.images_per_s_ci95 = measure::bootstrap_median_ci95(images_per_s, trial.spec.measure.seed);
  derive_scaling(trial, single, figures);
  const Repeats repeats = results::typical_repeats(trial);
  derive_shares(repeats, figures);
  figures.decoded_per_trained = decoded_per_trained(trial);
  figures.au_share = accelerator_utilization(trial, repeats);
  figures.gpu = results::summarize_gpus(trial);
  if (trial.data.images > 0) figures.epoch_s = ratio(static_cast<double>(trial.data.images), *figures.images_per_s);
  if (figures.gpu.mean_power_w)
    figures.images_per_joule = ratio(*figures.images_per_s, trial.ranks * *figures.gpu.mean_power_w);
  derive_cores(trial, repeats, figures);
  derive_learning(trial, figures);
  if (!trial.oversubscribed) {
    figures.images_per_s_per_core = ratio(*figures.images_per_s, trial.ranks * trial.cores_per_rank);
  }
  figures.limit = find_limit(trial, figures).by;
  return figures;
}

}  // namespace

bool same_arm(const results::TrialResult& a, const results::TrialResult& b) {
  spec::TrialSpec at_ranks_of_b = a.spec;
  at_ranks_of_b.ranks = b.spec.ranks;
  return at_ranks_of_b == b.spec;
}

results::Figures derive_figures(const results::TrialResult& trial, const std::vector<results::TrialResult>& all) {
  const auto single = std::ranges::find_if(all, [&trial](const results::TrialResult& other) {
    return is_single_of(other, trial) && same_arm(other, trial);
  });
  return figures_of(trial, single == all.end() ? nullptr : &*single);
}

std::vector<results::Figures> derive_all_figures(const std::vector<results::TrialResult>& trials) {
  spec::Alike arms(spec::leave_out_ranks);
  for (const results::TrialResult& trial : trials) arms.add(trial.spec);
  std::vector<results::Figures> all;
  for (const results::TrialResult& trial : trials) {
    const std::vector<std::size_t>& arm = arms.with(trial.spec);
    const auto single =
        std::ranges::find_if(arm, [&](std::size_t other) { return is_single_of(trials[other], trial); });
    all.push_back(figures_of(trial, single == arm.end() ? nullptr : &trials[*single]));
  }
  return all;
}

std::map<int, double> own_times_s(const results::RepeatResult& repeat) {
  std::map<int, double> times_s;
  for (const results::StepRecord& step : repeat.steps)
    times_s[step.rank] += step.timings.wall_s - step.timings.exposed_communication_s;
  return times_s;
}

std::optional<RankSpread> rank_spread(const results::TrialResult& trial) {
  std::map<int, double> own_s;
  for (const results::RepeatResult* repeat : results::counted_repeats(trial)) {
    for (const auto& [rank, time_s] : own_times_s(*repeat)) own_s[rank] += time_s;
  }
  if (own_s.size() < 2) return std::nullopt;
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fastest, slowest] = std::minmax_element(own_s.begin(), own_s.end(), by_time);
  if (!(fastest->second > 0)) return std::nullopt;
  return RankSpread{.spread = slowest->second / fastest->second - 1, .slowest = slowest->first};
}

Evaluation::Evaluation(const results::Report& of)
    : report(of),
      figures(derive_all_figures(of.trials)),
      measured(measured_trials(of.trials, figures)),
      second_jobs(second_job_costs(measured, measured)) {}

const std::vector<Ablation>& Evaluation::ablations() const {
  if (!ablations_) ablations_ = analysis::ablations(report);
  return *ablations_;
}

}  // namespace chexbench::analysis

#include "analysis/second_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/commands.hpp"
#include "analysis/comparison.hpp"
#include "analysis/utilization.hpp"
#include "core/text.hpp"
#include "measure/statistics.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

using spec::SecondJobKind;

void leave_out_second_job(spec::TrialSpec& spec) { spec.second_job = {}; }

bool shares_cores(const spec::TrialSpec& spec) { return spec.second_job.cores == "shared"; }

bool is_job_like_the_trial(SecondJobKind kind) {
  return kind == SecondJobKind::input || kind == SecondJobKind::training || kind == SecondJobKind::both;
}

// What the two compete for, in words.
std::string resource(const spec::TrialSpec& spec) {
  const SecondJobKind kind = spec.second_job.kind;
  if (is_job_like_the_trial(kind))
    return fmt::format("{} ({})", shares_cores(spec) ? "cores" : "all but cores", to_string(kind));
  std::string used = kind == SecondJobKind::memory       ? "memory bandwidth"
                     : kind == SecondJobKind::page_cache ? "page cache"
                                                         : "storage";
  return shares_cores(spec) ? "cores and " + used : used;
}

std::string job_words(const spec::TrialSpec& spec) {
  const spec::SecondJobSpec& job = spec.second_job;
  const std::string on = shares_cores(spec) ? "on its cores" : job.cores == "apart" ? "on other cores" : job.cores;
  const std::string place = second_job_is_emulated(spec) ? "(emulated) " + on : on;
  switch (job.kind) {
    case SecondJobKind::input:
      return "an input job " + place;
    case SecondJobKind::training:
      return "a training over ready-made batches " + place;
    case SecondJobKind::both:
      return "a training with its input " + place;
    case SecondJobKind::memory:
      return "a job that streams memory " + place;
    case SecondJobKind::page_cache:
      return "a job that drops its files from the page cache, " + place;
    default:
      return "a job that reads storage " + place;
  }
}

std::string kept_text(const measure::Ratio& kept) {
  if (!kept.ci95) return fmt::format("{:.2f} x", kept.value);
  return fmt::format("{:.2f} x ({:.2f} to {:.2f})", kept.value, kept.ci95->low, kept.ci95->high);
}

// Returns which of the two loses more, if the intervals decide it.
std::string who_suffers(const measure::Ratio& first, const measure::Ratio& second) {
  if (!first.ci95 || !second.ci95) return "";
  if (first.ci95->high < second.ci95->low) return ", so the trial loses more";
  if (second.ci95->high < first.ci95->low) return ", so the second job loses more";
  return ", so it is unclear which loses more";
}

std::string reason_of(const SecondJobCost& cost) {
  const std::string beside = fmt::format("Next to {},", job_words(cost.pair.trial.trial.spec));
  if (!cost.second) {
    const bool has_batches = is_job_like_the_trial(cost.pair.trial.trial.spec.second_job.kind);
    return fmt::format("{} it keeps {}.{}", beside, kept_text(cost.pair.ratio),
                       has_batches ? " That job finished too few batches to show what it keeps." : "");
  }
  return fmt::format("{} it keeps {} of its rate, and that job keeps {} of its rate{}.", beside,
                     kept_text(cost.pair.ratio), kept_text(cost.second->kept),
                     who_suffers(cost.pair.ratio, cost.second->kept));
}

struct Cure {
  std::string advice, command;
};

// Returns the command that measures the trial's data alongside every kind of second job.
std::string all_kinds_command(const results::TrialResult& trial) {
  const std::string& root = trial.spec.data.root;
  const bool is_folder = !root.empty() && !spec::is_distant(trial.spec);
  return is_folder ? "chexbench --config two-jobs --set data.root=" + shell_word(root) : "";
}

Cure cure_of(const results::TrialResult& trial) {
  if (shares_cores(trial.spec)) {
    return {.advice = "Give each job separate cores (taskset, a cpuset, Slurm's --cpus-per-task).",
            .command = all_kinds_command(trial)};
  }
  switch (trial.spec.second_job.kind) {
    case SecondJobKind::memory:
      return {.advice =
                  "Keep the jobs on separate sockets (numactl), or move fewer bytes: data.deliver u8 has a "
                  "twelfth of f32's, or a quarter in rgb.",
              .command = trial.spec.data.deliver == Deliver::f32 ? run_again(trial, "data.deliver=u8") : ""};
    case SecondJobKind::page_cache:
      return {.advice =
                  "Protect what it reads: memory.min of its cgroup, memory.high of the other's, or a copy in "
                  "memory (/dev/shm).",
              .command = ""};
    case SecondJobKind::storage:
      return {.advice =
                  "Limit the other job (io.max of its cgroup), or copy the files to separate storage with "
                  "`chexbench data stage`.",
              .command = ""};
    default:
      return {.advice = "Measure the kinds memory, page_cache and storage to see which of them it is.",
              .command = all_kinds_command(trial)};
  }
}

results::Finding finding_of(const SecondJobCost& cost) {
  const std::string reason = reason_of(cost);
  results::Finding finding =
      comparison("second_job", cost.pair, fmt::format("{}. {}", compared(cost.pair), reason), "its run alone");
  finding.emulated = finding.emulated || second_job_is_emulated(cost.pair.trial.trial.spec);
  if (finding.grade != results::Grade::told_apart) return finding;
  finding.reason = reason;
  if (cost.pair.ratio.value >= 1) return finding;  // a gain, e.g. from files that the other one reads into memory
  Cure cure = cure_of(cost.pair.trial.trial);
  finding.advice = std::move(cure.advice);
  finding.command = std::move(cure.command);
  return finding;
}

double loss_of(const SecondJobCost* cost) { return 1 - cost->pair.ratio.value; }

// Returns "cores 48 %", or "storage unclear" if the repeats differ too much.
std::string loss_text(const SecondJobCost* cost) {
  const std::string name = resource(cost->pair.trial.trial.spec);
  if (cost->pair.grade != results::Grade::told_apart) return name + " unclear";
  return fmt::format("{} {:.0f} %", name, 100 * loss_of(cost));
}

// Costs that are told apart come first, the highest first.
bool costs_more(const SecondJobCost* a, const SecondJobCost* b) {
  const auto rank = [](const SecondJobCost* cost) {
    return std::pair(cost->pair.grade == results::Grade::told_apart, loss_of(cost));
  };
  return rank(a) > rank(b);
}

bool is_emulated(const SecondJobCost* cost) {
  return cost->pair.trial.trial.emulated || second_job_is_emulated(cost->pair.trial.trial.spec);
}

results::Finding resources_finding(std::vector<const SecondJobCost*> costs) {
  std::ranges::stable_sort(costs, costs_more);
  std::vector<std::string> losses;
  for (const SecondJobCost* cost : costs) losses.push_back(loss_text(cost));
  const SecondJobCost& largest = *costs.front();
  const results::TrialResult& alone = largest.pair.base.trial;
  const bool is_told = largest.pair.grade == results::Grade::told_apart;
  const std::string headline = is_told ? fmt::format("loses most to a second job by {}: {:.0f} %",
                                                     resource(largest.pair.trial.trial.spec), 100 * loss_of(&largest))
                                       : "has no measurable loss to a second job";
  const std::string reason = fmt::format("By resource: {}.", fmt::join(losses, ", "));
  return {.kind = "second_job_resources",
          .text = fmt::format("{} {}. {}", largest.pair.base.name(), headline, reason),
          .emulated = std::ranges::any_of(costs, is_emulated),
          .grade = largest.pair.grade,
          .trial = alone.name,
          .headline = headline,
          .reason = reason,
          .worth_share = is_told ? std::clamp(loss_of(&largest), 0.0, 1.0) : 0};
}

}  // namespace

bool second_job_is_emulated(const spec::TrialSpec& spec) {
  return spec::second_job_trains(spec.second_job) && spec.second_job.engine.starts_with(spec::kEmulatedPrefix);
}

std::optional<SecondJobRates> second_job_rates(const results::TrialResult& trial) {
  const std::vector<const results::RepeatResult*> repeats = results::counted_repeats(trial);
  std::vector<double> alone, beside;
  SecondJobRates rates;
  rates.counts_bytes = std::ranges::any_of(
      repeats, [](const results::RepeatResult* repeat) { return repeat->second_job.alone_bytes_per_s.has_value(); });
  for (const results::RepeatResult* repeat : repeats) {
    const results::SecondJobResult& job = repeat->second_job;
    const auto& [of_alone, of_beside] = rates.counts_bytes ? std::pair(job.alone_bytes_per_s, job.bytes_per_s)
                                                           : std::pair(job.alone_images_per_s, job.images_per_s);
    if (!of_alone || !of_beside || *of_alone <= 0) continue;
    alone.push_back(*of_alone);
    beside.push_back(*of_beside);
  }
  if (alone.empty()) return std::nullopt;
  rates.alone = measure::median(alone);
  rates.beside = measure::median(beside);
  rates.kept = measure::paired_ratio(beside, alone, trial.spec.measure.seed);
  return rates;
}

std::vector<SecondJobCost> second_job_costs(const Trials& trials, const Trials& all) {
  std::vector<SecondJobCost> costs;
  const auto is_alone = [](const Measured& twin) { return !spec::has_second_job(twin.trial.spec); };
  if (std::ranges::all_of(trials, is_alone)) return costs;
  Rivals rivals(all, leave_out_second_job);
  for (const Measured& one : trials) {
    if (is_alone(one)) continue;
    const Measured* const twin = rivals.first(one, is_alone);
    if (twin == nullptr) continue;
    if (std::optional<Pair> pair = pair_of(one, *twin))
      costs.push_back({.pair = *pair, .second = second_job_rates(one.trial)});
  }
  return costs;
}

std::vector<results::Finding> second_job_findings(const std::vector<SecondJobCost>& costs) {
  std::vector<results::Finding> findings;
  std::vector<std::vector<const SecondJobCost*>> by_twin;
  std::map<const results::TrialResult*, std::size_t> numbers;  // indices into by_twin
  for (const SecondJobCost& cost : costs) {
    findings.push_back(finding_of(cost));
    const auto [number, is_new] = numbers.try_emplace(&cost.pair.base.trial, by_twin.size());
    if (is_new) by_twin.emplace_back();
    by_twin[number->second].push_back(&cost);
  }
  for (const auto& of_twin : by_twin)
    if (of_twin.size() > 1) findings.push_back(resources_finding(of_twin));
  return findings;
}

}  // namespace chexbench::analysis

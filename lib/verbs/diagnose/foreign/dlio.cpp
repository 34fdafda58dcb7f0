#include "verbs/diagnose/foreign/dlio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "verbs/diagnose/foreign/read_log.hpp"

namespace chexbench::verbs::foreign {
namespace {

constexpr double kMostSeconds = 1e9;
constexpr double kMostSamples = 1e12;
constexpr double kMostPercent = 101;  // the timers of a step and of its epoch differ a little

std::optional<int> number_in(std::string_view text, std::string_view prefix = "") {
  if (!text.starts_with(prefix)) return {};
  const auto number = parse_number<int>(text.substr(prefix.size()));
  return number && *number >= 0 ? number : std::nullopt;
}

void take_epoch(const Place& place, const Scalar& value, double most, std::vector<double>& epochs) {
  if (epochs.size() >= kMostParts) place.fail(fmt::format("more than {} epochs", kMostParts));
  epochs.push_back(place.number(value, most));
}

}  // namespace

void DlioOutput::value(const Place& place, const Scalar& value) {
  if (place.depth() == 0 || place.in_list(0)) return;
  if (place.depth() == 4) take_step(place, value);
  if (place.depth() <= 3) take_summary(place, value);
}

// {"EPOCH": {"load": {"blockN": [seconds, ...]}, "proc": {"blockN": [...]}}}
void DlioOutput::take_step(const Place& place, const Scalar& value) {
  const bool load = place.key(1) == "load";
  if (!place.in_list(3) || (!load && place.key(1) != "proc")) return;
  const auto epoch = number_in(place.key(0)), block = number_in(place.key(2), "block");
  if (!epoch || !block) return;
  if (++kept_ > 2 * kMostSteps) place.fail(fmt::format("more than {} steps", kMostSteps));
  Block& into = blocks_[{*epoch, *block}];
  if (blocks_.size() > kMostParts) place.fail(fmt::format("more than {} epochs", kMostParts));
  (load ? into.load_s : into.step_s).push_back(place.number(value, kMostSeconds));
}

void DlioOutput::take_summary(const Place& place, const Scalar& value) {
  if (place.is({"num_files_train"})) files_ = place.number(value, kMostSamples);
  if (place.is({"num_samples_per_file"})) samples_per_file_ = place.number(value, kMostSamples);
  if (place.is({"num_accelerators"})) is_summary_ = true;
  if (place.is({"metric", "train_au_percentage", "*"})) take_epoch(place, value, kMostPercent, utilization_percent_);
  if (place.is({"metric", "train_throughput_samples_per_second", "*"}))
    take_epoch(place, value, kMostSamples, samples_per_s_);
  if (place.is({"*", "duration"}) && number_in(place.key(0))) is_epoch_stats_ = true;
}

StepLog DlioOutput::steps(const std::string& name) const {
  StepLog log{.counts_images = false, .names_ranks = false};
  for (const auto& [number, block] : blocks_) {
    const int epoch = number.first, index = number.second;
    for (std::size_t i = 0; i < block.step_s.size(); ++i) {
      const auto fail = [&](const std::string& complaint) {
        throw DataError(fmt::format("{}: step {} of {}.*.block{}: {}", name, i, epoch, index, complaint));
      };
      if (i >= block.load_s.size()) fail("it is in proc and not in load; was the file edited?");
      const double wait_s = block.load_s[i], step_s = block.step_s[i];
      if (step_s == 0) fail("proc is 0, and a step takes time");
      if (wait_s > step_s) fail(fmt::format("load is {}, more than proc, {}, which includes it", wait_s, step_s));
      log.steps.push_back({.epoch = epoch, .wait_s = wait_s, .step_s = step_s});
    }
  }
  if (log.steps.empty()) throw DataError(name + ": DLIO trained no step; was it told to generate data alone?");
  log.notes.emplace_back("From DLIO's output: a wait is the load of a step, and its accelerator is simulated.");
  return log;
}

StepLog DlioOutput::epochs(const std::string& name) const {
  const double samples = files_ * samples_per_file_;
  if (utilization_percent_.empty() || utilization_percent_.size() != samples_per_s_.size()) {
    throw DataError(
        fmt::format("{}: metric has {} train_au_percentage and {} train_throughput_samples_per_second, and "
                    "each epoch has both; was there a training?",
                    name, utilization_percent_.size(), samples_per_s_.size()));
  }
  if (!(samples >= 1 && samples <= kMostSamples)) {
    throw DataError(
        fmt::format("{}: num_files_train times num_samples_per_file is {}, and must be 1 at least; old "
                    "versions of DLIO leave them out: diagnose RANK_output.json, which lies beside it",
                    name, samples));
  }
  StepLog log{.names_ranks = false};
  for (std::size_t i = 0; i < samples_per_s_.size(); ++i) {
    if (samples_per_s_[i] < 1 / kMostSeconds) {
      throw DataError(fmt::format("{}: metric.train_throughput_samples_per_second[{}] is {}, so no step was trained",
                                  name, i, samples_per_s_[i]));
    }
    const double wait_share = 1 - std::min(1.0, utilization_percent_[i] / 100);
    log.steps.push_back({.wait_s = wait_share / samples_per_s_[i],
                         .step_s = 1 / samples_per_s_[i],
                         .images = 1,
                         .steps = static_cast<std::size_t>(samples)});
  }
  log.notes.emplace_back(
      "From DLIO's summary, which has means of each epoch over all ranks: a step in the table is one sample, its "
      "wait what the accelerators' utilization leaves. RANK_output.json, which lies beside it, has single steps.");
  return log;
}

StepLog DlioOutput::finish(const std::string& name) const {
  if (!blocks_.empty()) return steps(name);
  if (is_summary_) return epochs(name);
  throw DataError(name +
                  ": DLIO's per-epoch stats have no waits; diagnose RANK_output.json (each step) or summary.json, "
                  "which lie beside it");
}

}  // namespace chexbench::verbs::foreign

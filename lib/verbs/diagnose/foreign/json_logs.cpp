#include "verbs/diagnose/foreign/json_logs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/printable.hpp"

namespace chexbench::verbs::foreign {
namespace {

constexpr double kFirstSchema = 1.7;  // older ones use other names for times
constexpr double kNextSchema = 2;     // which may be incompatible with 1.x
constexpr double kMostMilliseconds = 1e12;
constexpr int kMostCounted = 1'000'000'000;

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

void TraceMlSummary::value(const Place& place, const Scalar& value) {
  if (place.is({"schema_version"}) && std::holds_alternative<double>(value)) schema_ = std::get<double>(value);
  const auto* text = std::get_if<std::string_view>(&value);
  if (text != nullptr && place.is({"lhs", "path"})) compared_ = *text;
  if (place.is({"step_time", "global", "window", "steps_analyzed"}) && value.index() != 0) {
    steps_ = static_cast<std::size_t>(place.whole_number(value, kMostCounted));
  }
  if (!place.is({"step_time", "groups", "rows", "*", "metrics", "*"})) return;
  const std::string& metric = place.key(5);
  if (metric != "input_wait_ms" && metric != "step_time_ms") return;
  const auto rank = parse_number<int>(place.key(3));
  if (!rank || *rank < 0 || *rank > kMostRank) {
    place.fail(fmt::format("'{}' is no number of a rank", printable(place.key(3), 50)));
  }
  Means& means = ranks_[*rank];
  if (ranks_.size() > kMostSteps) place.fail("more ranks than any job has");
  if (value.index() == 0) return;  // null: TraceML did not measure it
  (metric == "input_wait_ms" ? means.wait_ms : means.step_ms) = place.number(value, kMostMilliseconds);
}

void TraceMlSummary::closed(const Place& place) {
  if (place.is({"primary_diagnosis"}) || place.is({"step_time"})) is_summary_ = true;
}

StepLog TraceMlSummary::finish(const std::string& name) const {
  if (!is_summary_) {
    throw DataError(fmt::format(
        "{}: TraceML's comparison of two runs, which has no ranks; give the final_summary.json of one, such "
        "as {}",
        name, printable(compared_, 200)));
  }
  if (*schema_ < kFirstSchema || *schema_ >= kNextSchema) {
    throw DataError(
        fmt::format("{}: it has TraceML's schema_version {}, and this program reads {} to {}.x; write the "
                    "summary again with another version of traceml-ai",
                    name, *schema_, kFirstSchema, kNextSchema - 1));
  }
  if (steps_ == 0 || ranks_.empty()) {
    throw DataError(name + ": step_time has no steps; put traceml.trace_step(model) around each and use `traceml run`");
  }
  StepLog log{.counts_images = false};
  for (const auto& [rank, means] : ranks_) {
    const std::string place = fmt::format("step_time.groups.rows.{}.metrics", rank);
    if (!means.wait_ms || !means.step_ms || *means.step_ms == 0) {
      throw DataError(
          fmt::format("{}: {} has no {}; TraceML has to see the DataLoader and the steps "
                      "(traceml.init(mode=\"auto\") before the loader is made)",
                      name, place, means.wait_ms ? "step_time_ms" : "input_wait_ms"));
    }
    if (*means.wait_ms > *means.step_ms) {
      throw DataError(fmt::format("{}: {}.input_wait_ms is {}, more than step_time_ms, {}, which includes it", name,
                                  place, *means.wait_ms, *means.step_ms));
    }
    log.steps.push_back(
        {.rank = rank, .wait_s = *means.wait_ms / 1e3, .step_s = *means.step_ms / 1e3, .steps = steps_});
  }
  log.notes.emplace_back("TraceML's summary is a mean step of each rank, in which late steps and epoch starts count.");
  return log;
}

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
  if (log.steps.empty()) throw DataError(name + ": DLIO trained no step; was it run only to generate data?");
  log.notes.emplace_back("In DLIO's output, a step waits while it loads, and its accelerator is simulated.");
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
                    "versions of DLIO leave them out: diagnose RANK_output.json in the same folder",
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
      "DLIO's summary has means over epochs and ranks: a step in the table is a sample, and its wait the time in which "
      "accelerators are not busy. RANK_output.json in the same folder has single steps.");
  return log;
}

StepLog DlioOutput::finish(const std::string& name) const {
  if (!blocks_.empty()) return steps(name);
  if (is_summary_) return epochs(name);
  throw DataError(name +
                  ": DLIO's per-epoch stats have no waits; diagnose RANK_output.json (each step) or summary.json "
                  "in the same folder");
}

}  // namespace chexbench::verbs::foreign

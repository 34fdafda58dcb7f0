#include "verbs/diagnose/foreign/horovod.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "verbs/diagnose/foreign/read_log.hpp"

namespace chexbench::verbs::foreign {
namespace {

constexpr const char* kNegotiate = "NEGOTIATE_";
constexpr const char* kGradient = "NEGOTIATE_ALLREDUCE";  // broadcasts set weights, gathers collect metrics

}  // namespace

void HorovodSteps::take(const Place& place, const TraceEvent& event) {
  const bool begins = event.phase == "B";
  if (begins && event.name.starts_with(kNegotiate)) seen_ = true;
  if (!seen_ || (!begins && event.phase != "E")) return;
  const double at_us = begin_us(place, event);
  begins ? begin(place, event, at_us) : end(event, at_us);
}

void HorovodSteps::begin(const Place& place, const TraceEvent& event, double at_us) {
  if (event.name != kGradient) return;
  if (steps_.empty() || reduced_.contains(event.process)) {
    if (steps_.size() >= kMostSteps) place.fail(fmt::format("more than {} steps", kMostSteps));
    reduced_.clear();
    negotiating_.clear();
    steps_.push_back({.ready_us = {}, .end_us = at_us});
  }
  if (reduced_.size() >= kMostParts) place.fail(fmt::format("more than {} tensors of a step", kMostParts));
  reduced_.insert(event.process);
  negotiating_.insert(event.process);
}

void HorovodSteps::end(const TraceEvent& event, double at_us) {
  if (!reduced_.contains(event.process)) return;
  Step& step = steps_.back();
  step.end_us = std::max(step.end_us, at_us);
  if (negotiating_.erase(event.process) > 0 && !step.ready_us) step.ready_us = at_us;
}

StepLog HorovodSteps::finish(const std::string& name) {
  StepLog log{.counts_images = false, .names_ranks = false, .least_waits = true};
  std::vector<double> until_ready_us;
  for (std::size_t i = 1; i < steps_.size(); ++i) {
    const double start_us = steps_[i - 1].end_us;
    const double step_us = steps_[i].end_us - start_us;
    if (!steps_[i].ready_us || step_us <= 0) continue;  // the timeline ends, or was switched off and on, within it
    until_ready_us.push_back(std::clamp(*steps_[i].ready_us - start_us, 0.0, step_us));
    log.steps.push_back({.step_s = step_us / kMicrosecondsPerSecond});
  }
  if (log.steps.empty()) {
    throw DataError(
        fmt::format("{}: it has {} step{} with {}, and two at least are needed; record the timeline for a "
                    "few hundred steps",
                    name, steps_.size(), steps_.size() == 1 ? "" : "s", kGradient));
  }
  const double shortest_us = *std::ranges::min_element(until_ready_us);
  for (std::size_t i = 0; i < log.steps.size(); ++i) {
    log.steps[i].wait_s = std::min((until_ready_us[i] - shortest_us) / kMicrosecondsPerSecond, log.steps[i].step_s);
  }
  log.notes.emplace_back(
      "From Horovod's timeline, which rank 0 writes for all ranks and which does not record the input: a step is the "
      "job's, and a wait is how much longer than in the shortest step it took until all ranks had a gradient. An input "
      "that is late in every step does not show; a hook of scripts/hooks would see it.");
  return log;
}

}  // namespace chexbench::verbs::foreign

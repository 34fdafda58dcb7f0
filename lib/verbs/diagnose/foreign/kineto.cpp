#include "verbs/diagnose/foreign/kineto.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/text.hpp"
#include "verbs/diagnose/foreign/read_log.hpp"

namespace chexbench::verbs::foreign {
namespace {

bool is_step(const std::string& name) { return name.starts_with("ProfilerStep#"); }

// "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", or "DataLoader.__next__" of other versions.
bool is_fetch(const std::string& name) {
  return name.ends_with("__next__") && name.find("DataLoader") != std::string::npos;
}

bool is_optimizer_step(const std::string& name) { return name.starts_with("Optimizer.step#"); }

// Versions before 1.12 write categories with a capital letter.
bool runs_on_gpu(const std::string& category) {
  const std::string small = lower_case(category);
  return small == "kernel" || small == "gpu_memcpy" || small == "gpu_memset";
}

}  // namespace

void KinetoSteps::take(const Place& place, const TraceEvent& event) {
  if (event.phase != "X") return;
  if (runs_on_gpu(event.category)) {
    gpu_busy_.add(begin_us(place, event), end_us(place, event));
    return;
  }
  const bool step = is_step(event.name), fetch = is_fetch(event.name), optimizer = is_optimizer_step(event.name);
  // The GPU's part of an annotation also appears under its name.
  if ((!step && !fetch && !optimizer) || lower_case(event.category) == "gpu_user_annotation") return;
  if (++kept_ > kMostSteps) place.fail(fmt::format("more than {} steps and fetches; profile fewer steps", kMostSteps));
  const Interval span{.begin = begin_us(place, event), .end = end_us(place, event)};
  Thread& thread = threads_[{event.process, event.thread}];
  if (threads_.size() > kMostParts) place.fail(fmt::format("more than {} threads with steps", kMostParts));
  if (step && span.end <= span.begin) {
    if (thread.unfinished) place.fail(event.name + " takes no time, and a step does");
    thread.unfinished = span;
  } else if (step) {
    thread.steps.push_back(span);
  }
  if (fetch) thread.fetches.push_back(span);
  if (optimizer) thread.optimizer_ends.push_back(span.end);
}

std::vector<Interval> KinetoSteps::steps_by_fetch(Thread& thread) {
  std::ranges::sort(thread.fetches, {}, &Interval::begin);
  std::ranges::sort(thread.optimizer_ends);
  std::vector<Interval> steps;
  auto optimizer = thread.optimizer_ends.begin();
  for (const Interval& fetch : thread.fetches) {
    const auto done = std::upper_bound(optimizer, thread.optimizer_ends.end(), fetch.begin);
    const bool begins = steps.empty() || thread.optimizer_ends.empty() || done != optimizer;
    optimizer = done;
    if (!begins) continue;
    if (!steps.empty()) steps.back().end = fetch.begin;
    steps.push_back({.begin = fetch.begin, .end = fetch.begin});
  }
  // The last step is complete only if an optimizer step follows.
  if (!steps.empty() && optimizer != thread.optimizer_ends.end()) steps.back().end = thread.optimizer_ends.back();
  std::erase_if(steps, [](const Interval& step) { return step.end <= step.begin; });
  return steps;
}

void KinetoSteps::append(Thread& thread, const std::vector<Interval>& steps, int rank, StepLog& log) {
  IntervalUnion fetches;
  for (const Interval& fetch : thread.fetches) fetches.add(fetch.begin, fetch.end);
  IntervalUnion waits = gpu_busy_.empty() ? std::move(fetches) : fetches.without(gpu_busy_);
  for (const Interval& step : steps) {
    const double step_us = step.end - step.begin;
    const double wait_us = std::min(waits.covered(step.begin, step.end), step_us);
    log.steps.push_back(
        {.rank = rank, .wait_s = wait_us / kMicrosecondsPerSecond, .step_s = step_us / kMicrosecondsPerSecond});
    add_span(step, log);
  }
}

void KinetoSteps::add_span(const Interval& step, StepLog& log) const {
  const LogSpan span{.begin_s = (base_us_ + step.begin) / kMicrosecondsPerSecond,
                     .end_s = (base_us_ + step.end) / kMicrosecondsPerSecond};
  const LogSpan before = log.span.value_or(span);
  log.span = {.begin_s = std::min(before.begin_s, span.begin_s), .end_s = std::max(before.end_s, span.end_s)};
}

StepLog KinetoSteps::finish(const std::string& name) {
  StepLog log{.counts_images = false, .names_ranks = rank_.has_value()};
  const bool profiled = std::ranges::any_of(threads_, [](const auto& at) { return !at.second.steps.empty(); });
  const auto has_steps = [&](const Thread& at) { return profiled ? !at.steps.empty() : !at.fetches.empty(); };
  const auto ranks = std::ranges::count_if(threads_, [&](const auto& at) { return has_steps(at.second); });
  int rank = ranks == 1 ? rank_.value_or(0) : 0;  // a trace merged from several ranks has a thread for each
  if (ranks > 1) log.names_ranks = true;
  for (auto& [id, thread] : threads_) {
    std::ranges::sort(thread.steps, {}, &Interval::begin);
    if (thread.unfinished && (thread.steps.empty() || thread.steps.back().begin > thread.unfinished->begin))
      throw DataError(name + ": a ProfilerStep# takes no time, and a step does, unless it is the last one");
    if (!has_steps(thread)) continue;
    if (thread.fetches.empty()) {
      throw DataError(name +
                      ": it has ProfilerStep# and on their thread no DataLoader __next__, so nothing says how long "
                      "the training waited for its batches; log its steps with a hook of scripts/hooks");
    }
    log.process = std::visit([](const auto& one) { return fmt::format("{}", one); }, id.first);
    append(thread, profiled ? thread.steps : steps_by_fetch(thread), rank++, log);
  }
  if (log.steps.empty()) {
    throw DataError(name +
                    ": it has no whole step: neither ProfilerStep# nor two DataLoader __next__; call prof.step() after "
                    "each step and record at least 15");
  }
  log.notes.push_back(
      gpu_busy_.empty()
          ? "From a trace of torch.profiler without GPU kernels: a wait is the time of the DataLoader's __next__."
          : "From a trace of torch.profiler: a wait is the time of the DataLoader's __next__ in which no GPU kernel "
            "ran.");
  return log;
}

}  // namespace chexbench::verbs::foreign

#include "verbs/diagnose/foreign/trace_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "core/text.hpp"

namespace chexbench::verbs::foreign {

void IntervalUnion::add(double begin, double end) {
  if (end <= begin) return;
  before_.clear();
  if (!spans_.empty() && begin >= spans_.back().begin && begin <= spans_.back().end + joined_gap_) {
    spans_.back().end = std::max(spans_.back().end, end);
    return;
  }
  spans_.push_back({.begin = begin, .end = end});
  if (spans_.size() < 2 * kMost) return;
  join(joined_gap_);
  while (spans_.size() > kMost) {
    const double mean_gap = (spans_.back().end - spans_.front().begin) / static_cast<double>(spans_.size());
    joined_gap_ = std::max(2 * joined_gap_, mean_gap / 2);
    join(joined_gap_);
  }
}

// Sorts the spans and joins those that overlap or are at most `gap` apart.
void IntervalUnion::join(double gap) {
  std::ranges::sort(spans_, {}, &Interval::begin);
  std::size_t kept = 0;
  for (const Interval& span : spans_) {
    if (kept > 0 && span.begin <= spans_[kept - 1].end + gap) {
      spans_[kept - 1].end = std::max(spans_[kept - 1].end, span.end);
    } else {
      spans_[kept++] = span;
    }
  }
  spans_.resize(kept);
}

void IntervalUnion::order() {
  if (before_.size() == spans_.size()) return;
  join(0);
  before_.clear();
  double length = 0;
  for (const Interval& span : spans_) {
    before_.push_back(length);
    length += span.end - span.begin;
  }
}

double IntervalUnion::covered(double begin, double end) {
  order();
  // Returns the covered length before `at`.
  const auto until = [this](double at) {
    const auto after = std::ranges::upper_bound(spans_, at, {}, &Interval::begin);
    if (after == spans_.begin()) return 0.0;
    const auto last = static_cast<std::size_t>(after - spans_.begin()) - 1;
    return before_[last] + std::min(at, spans_[last].end) - spans_[last].begin;
  };
  return end <= begin ? 0 : std::max(0.0, until(end) - until(begin));
}

IntervalUnion IntervalUnion::without(IntervalUnion& other) {
  order();
  other.order();
  IntervalUnion left;
  auto cut = other.spans_.begin();
  for (const Interval& span : spans_) {
    double begin = span.begin;
    while (cut != other.spans_.end() && cut->end <= begin) ++cut;
    for (auto at = cut; at != other.spans_.end() && at->begin < span.end; ++at) {
      left.add(begin, at->begin);
      begin = std::max(begin, at->end);
    }
    left.add(begin, span.end);
  }
  return left;
}

namespace {

constexpr std::size_t kMostIdBytes = 200;   // kept of the name of a process or thread
constexpr double kMostMicroseconds = 1e17;  // since 1970: some millennia
constexpr double kMicrosecondsPerSecond = 1e6;

// Returns the level of the list of events if `place` is in an event: one less than that of an event's keys.
bool in_event(const Place& place, std::size_t depth) {
  if (place.depth() == depth) return place.depth() >= 1 && place.in_list(0);
  return place.depth() == depth + 1 && place.in_list(1) && place.key(0) == "traceEvents";
}

void set_number(std::optional<double>& to, const Scalar& value) {
  if (const double* number = std::get_if<double>(&value)) to = *number;
}

void set_text(std::string& to, const Scalar& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) to = *text;
}

void set_id(TraceId& to, const Scalar& value) {
  if (const double* number = std::get_if<double>(&value)) to = *number;
  if (const auto* text = std::get_if<std::string_view>(&value)) to = std::string(text->substr(0, kMostIdBytes));
}

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

constexpr const char* kNegotiate = "NEGOTIATE_";
constexpr const char* kGradient = "NEGOTIATE_ALLREDUCE";  // broadcasts set weights, gathers collect metrics

}  // namespace

double begin_us(const Place& place, const TraceEvent& event) {
  if (!event.begin_us) place.fail(fmt::format("this {} has no number 'ts', when it began", event.phase));
  if (!(std::abs(*event.begin_us) <= kMostMicroseconds)) {
    place.fail(fmt::format("its ts is {}, which is no time in microseconds", *event.begin_us));
  }
  return *event.begin_us;
}

double end_us(const Place& place, const TraceEvent& event) {
  const double begin = begin_us(place, event);
  if (!event.duration_us) place.fail("it has no number 'dur', how long it took");
  if (!(*event.duration_us >= 0 && *event.duration_us <= kMostMicroseconds)) {
    place.fail(fmt::format("its dur is {}, and nothing takes so long", *event.duration_us));
  }
  return begin + *event.duration_us;
}

void TraceEvents::value(const Place& place, const Scalar& value) {
  if (!in_event(place, 2)) return;
  const std::string& key = place.key(place.depth() - 1);
  if (key == "name") {
    set_text(event_.name, value);
  } else if (key == "ph") {
    set_text(event_.phase, value);
  } else if (key == "cat") {
    set_text(event_.category, value);
  } else if (key == "ts") {
    set_number(event_.begin_us, value);
  } else if (key == "dur") {
    set_number(event_.duration_us, value);
  } else if (key == "pid") {
    set_id(event_.process, value);
  } else if (key == "tid") {
    set_id(event_.thread, value);
  }
}

void TraceEvents::closed(const Place& place) {
  if (!in_event(place, 1)) return;
  if (!event_.phase.empty()) {
    seen_ = true;
    take_(place, event_);
  }
  event_ = {};
}

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
      throw DataError(
          name +
          ": it has ProfilerStep# and on their thread no DataLoader __next__, so the trace does not show how "
          "long the training waited for its batches; log its steps with a hook of scripts/hooks");
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
          ? "This torch.profiler trace has no GPU kernels: a wait is the time in the DataLoader's __next__."
          : "In a torch.profiler trace, a wait is time in the DataLoader's __next__ in which no GPU kernel ran.");
  return log;
}

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
      "Horovod's timeline is rank 0's, for all ranks, and does not record the input: a wait is how much later than in "
      "the shortest step all ranks have a gradient. An input that is late in every step shows only with a hook of "
      "scripts/hooks.");
  return log;
}

}  // namespace chexbench::verbs::foreign

#include "report/trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "results/rank_trace.hpp"

namespace chexbench::report {
namespace {

using Write = std::function<void(std::string_view)>;

const results::RepeatResult* traced_repeat(const results::TrialResult& trial) {
  if (!trial.trace) return nullptr;
  const auto found = std::ranges::find(trial.repeats, trial.trace->repeat, &results::RepeatResult::repeat);
  return found == trial.repeats.end() ? nullptr : &*found;
}

// Draws the parts of a whole one after another. No part extends beyond the whole.
class TraceRow {
 public:
  TraceRow(results::TracePlace place, results::TraceTime whole, std::string& text)
      : place_(place), end_ns_(whole.end_ns), text_(text), next_ns_(whole.begin_ns) {}

  results::TraceTime part(const char* name, double seconds) {
    const results::TraceTime time{.begin_ns = next_ns_,
                                  .end_ns = std::clamp(next_ns_ + results::nanoseconds(seconds), next_ns_, end_ns_)};
    next_ns_ = time.end_ns;
    if (time.end_ns > time.begin_ns) text_ += results::span_event(place_, {.name = name, .category = "step"}, time, "");
    return time;
  }

 private:
  const results::TracePlace place_;
  const std::int64_t end_ns_;
  std::string& text_;
  std::int64_t next_ns_;
};

// Returns the time from the end of the step before to the end of this one.
results::TraceTime time_of(const results::StepRecord& step, double shift_s) {
  const std::int64_t end_ns = results::nanoseconds(step.timings.end_s + shift_s);
  return {.begin_ns = end_ns - results::nanoseconds(step.timings.wall_s), .end_ns = end_ns};
}

// The start times of a step's parts are not recorded, so they are drawn one after another.
void add_step(const results::StepRecord& step, results::TraceTime time, std::string& text) {
  const results::TracePlace place{.rank = step.rank, .row = results::kStepsRow};
  const measure::StepTimings& timings = step.timings;
  text += results::span_event(
      place, {.name = fmt::format("step {}", step.step), .category = "step"}, time,
      fmt::format(R"("images":{},"communication_busy_s":{})", timings.images, timings.communication_busy_s));
  TraceRow parts(place, time, text);
  parts.part("wait", timings.wait_s);
  parts.part("upload", timings.upload_s);
  TraceRow compute(place, parts.part("compute", timings.compute_s), text);
  compute.part("forward", timings.forward_s);
  compute.part("backward", timings.backward_s);
  parts.part("exposed communication", timings.exposed_communication_s);
  parts.part("update", timings.update_s);
  parts.part("other", timings.other_s);
}

struct TracedTrial {
  const results::TrialResult& trial;
  const results::RepeatResult& repeat;
};

std::map<int, results::TraceTime> step_times(const results::RepeatResult& repeat, const results::RankTrace& rank) {
  std::map<int, results::TraceTime> times;
  for (const results::StepRecord& step : repeat.steps) {
    if (step.rank == rank.rank) times[step.step] = time_of(step, rank.clock_shift_s);
  }
  // A step begins when the one before it ended. The two ways to compute that time differ by nanoseconds.
  for (std::int64_t ended_ns = 0; auto& [number, time] : times) {
    time.begin_ns = std::max(time.begin_ns, ended_ns);
    ended_ns = time.end_ns;
  }
  return times;
}

// Adds the trial as one span, and its steps within it.
void add_steps(const TracedTrial& traced, const results::RankTrace& rank,
               const std::map<int, results::TraceTime>& times, std::string& text) {
  text += results::span_event(
      {.rank = rank.rank, .row = results::kStepsRow}, {.name = traced.trial.name, .category = "trial"},
      {.begin_ns = times.begin()->second.begin_ns, .end_ns = times.rbegin()->second.end_ns},
      fmt::format(R"("repeat":{},"engine":{},"emulated":{},"dropped_spans":{})", traced.repeat.repeat,
                  results::json_quoted(traced.trial.spec.engine), traced.trial.emulated, rank.dropped_spans));
  for (const results::StepRecord& step : traced.repeat.steps) {
    if (step.rank == rank.rank) add_step(step, times.at(step.step), text);
  }
}

// Adds the depths of the queues when steps ended. They end with 0 after the trial: otherwise a viewer would draw the
// last depths through the next trial.
void add_queue_depths(const results::RepeatResult& repeat, int rank, const std::map<int, results::TraceTime>& times,
                      std::string& text) {
  for (const results::OpSample& sample : repeat.op_samples) {
    const auto op = static_cast<std::size_t>(sample.op_index);
    if (sample.rank != rank || repeat.ops.at(op).queue_capacity == 0) continue;
    text += results::counter_event(rank, fmt::format("queue of {} {}", op, repeat.ops[op].op),
                                   times.at(sample.step).end_ns, sample.queue_depth);
  }
  if (repeat.op_samples.empty()) return;
  const std::int64_t gone_ns = times.rbegin()->second.end_ns + 1;
  for (std::size_t op = 0; op < repeat.ops.size(); ++op) {
    if (repeat.ops[op].queue_capacity == 0) continue;
    text += results::counter_event(rank, fmt::format("queue of {} {}", op, repeat.ops[op].op), gone_ns, 0);
  }
}

void write_rank(const TracedTrial& traced, const results::RankTrace& rank, const Write& write) {
  const std::map<int, results::TraceTime> times = step_times(traced.repeat, rank);
  if (times.empty()) return;
  std::string text;
  add_steps(traced, rank, times, text);
  add_queue_depths(traced.repeat, rank.rank, times, text);
  write(text);
  write(rank.events);
}

std::vector<TracedTrial> traced_trials(const results::Report& report) {
  std::vector<TracedTrial> traced;
  for (const results::TrialResult& trial : report.trials) {
    if (const results::RepeatResult* repeat = traced_repeat(trial)) traced.push_back({trial, *repeat});
  }
  return traced;
}

void write_head(const results::Report& report, const std::vector<TracedTrial>& traced, const Write& write) {
  std::uint64_t dropped = 0;
  std::vector<std::string> emulated;
  for (const TracedTrial& one : traced) {
    if (one.trial.emulated) emulated.push_back(one.trial.name);
    for (const results::RankTrace& rank : one.trial.trace->ranks) dropped += rank.dropped_spans;
  }
  write(fmt::format(R"({{"displayTimeUnit":"ms","otherData":{{"experiment":{},"chexbench_version":{},"host":{},)"
                    R"("clock":"CLOCK_MONOTONIC of rank 0's host","emulated":{},"emulated_trials":{},)"
                    R"("dropped_spans":{}}},"traceEvents":[)"
                    "\n",
                    results::json_quoted(report.experiment), results::json_quoted(report.environment.chexbench_version),
                    results::json_quoted(report.environment.host), !emulated.empty(),
                    results::json_quoted(fmt::format("{}", fmt::join(emulated, "; "))), dropped));
}

void write_rank_names(const std::vector<TracedTrial>& traced, const Write& write) {
  std::map<int, bool> emulated;
  for (const TracedTrial& one : traced) {
    for (const results::RankTrace& rank : one.trial.trace->ranks) emulated[rank.rank] |= one.trial.emulated;
  }
  for (const auto& [rank, some] : emulated) {
    write(results::rank_name_event(rank, fmt::format("rank {}{}", rank, some ? " (emulated accelerator)" : "")));
    write(results::row_name_event({.rank = rank, .row = results::kStepsRow}, "steps"));
  }
}

}  // namespace

bool has_trace(const results::Report& report) { return !traced_trials(report).empty(); }

void write_trace(const results::Report& report, const Write& write) {
  const std::vector<TracedTrial> traced = traced_trials(report);
  write_head(report, traced, write);
  write_rank_names(traced, write);
  for (const TracedTrial& one : traced) {
    for (const results::RankTrace& rank : one.trial.trace->ranks) write_rank(one, rank, write);
  }
  // Each event ends with a comma, so the last one, without a comma, is written here.
  write(R"({"ph":"M","pid":0,"name":"process_sort_index","args":{"sort_index":0}})"
        "\n]}\n");
}

}  // namespace chexbench::report

#include "bench/recorder.hpp"

#include <algorithm>
#include <utility>

#include "measure/process_sampler.hpp"
#include "measure/process_start.hpp"

namespace chexbench::bench {
namespace {

// True once per process: its first batch.
bool first_batch_of_process() {
  static bool first = true;
  return std::exchange(first, false);
}

}  // namespace

measure::OpCounters difference(const measure::OpCounters& after, const measure::OpCounters& before) {
  measure::OpCounters d = after;
  for (const auto counter : measure::kOpTotals) d.*counter -= before.*counter;
  for (const auto counter : measure::kOpTimes) d.*counter -= before.*counter;
  return d;
}

Recorder::Recorder(const pipeline::Pipeline& pipeline, int warmup_steps, int rank)
    : pipeline_(pipeline), warmup_steps_(warmup_steps), rank_(rank) {
  measure::reset_peak_rss();
  open_ = edge();
}

Recorder::Edge Recorder::edge() const {
  Edge edge{.ops = pipeline_.counters(), .process_cpu_s = measure::process_cpu_s()};
  for (const measure::OpCounters& op : edge.ops) edge.images_held += static_cast<std::int64_t>(op.images_held);
  for (const StepBegun& step : begun_) edge.images_held += step.images;
  return edge;
}

void Recorder::batch_arrived(double asked_s, double arrived_s, int images) {
  begun_.push_back({.next_s = arrived_s - asked_s, .images = images});
  if (first_batch_of_process()) result_.start_to_first_batch_s = arrived_s - measure::process_start_s();
}

void Recorder::look(const engine::Engine& engine) {
  if (engine.steps_finished() == steps_seen_) return;
  const int step = static_cast<int>(steps_seen_++) - warmup_steps_;
  const double next_s = begun_.front().next_s;
  begun_.pop_front();
  if (step >= 0) {
    result_.steps.push_back({.rank = rank_, .step = step, .next_s = next_s, .timings = engine.timings()});
  } else if (step == -1) {
    open_ = edge();
  }
  result_.anonymous_rss_bytes = std::max(result_.anonymous_rss_bytes, measure::sample_process().anonymous_rss_bytes);
}

report::RepeatResult Recorder::result() {
  const Edge close = edge();
  for (std::size_t i = 0; i < close.ops.size(); ++i) result_.ops.push_back(difference(close.ops[i], open_.ops[i]));
  for (const measure::OpCounters& op : result_.ops) {
    result_.images_decoded += op.images_decoded;
    result_.bytes_read += op.bytes_read;
    result_.bad_records += op.bad_records;
  }
  for (const report::StepRecord& step : result_.steps) {
    result_.wall_s += step.timings.wall_s;
    result_.images_trained += static_cast<std::uint64_t>(step.timings.images);
  }
  result_.images_held_change = close.images_held - open_.images_held;
  result_.process_cpu_s = close.process_cpu_s - open_.process_cpu_s;
  result_.peak_rss_bytes = measure::sample_process().peak_rss_bytes;
  return result_;
}

}  // namespace chexbench::bench

#include "bench/recorder.hpp"

#include <algorithm>
#include <utility>

#include "measure/process_sampler.hpp"

namespace chexbench::bench {
namespace {

constexpr int kMostOpSamples = 200;  // per repeat; charts need no more

// Returns true at its first call in this process, for the first batch.
bool first_batch_of_process() {
  static bool first = true;
  return std::exchange(first, false);
}

}  // namespace

Recorder::Recorder(const pipeline::Pipeline& pipeline, const spec::MeasureSpec& measure, int rank, int batches_per_step)
    : pipeline_(pipeline), measure_(measure), rank_(rank), batches_per_step_(batches_per_step), waits_(rank) {
  measure::reset_peak_rss();
  open_ = edge();
}

Recorder::Edge Recorder::edge() const {
  const measure::ProcessSample process = measure::sample_process();
  Edge edge{.ops = pipeline_.counters(),
            .process_cpu_s = process.cpu_s,
            .cpu_wait_s = measure::process_cpu_wait_s(),
            .storage_read_bytes = process.storage_read_bytes};
  for (const measure::OpCounters& op : edge.ops) edge.images_held += static_cast<std::int64_t>(op.images_held);
  for (const StepBegun& step : begun_) edge.images_held += step.images;
  return edge;
}

void Recorder::batch_asked(double asked_s) {
  asked_s_ = asked_s;
  if (measure_.attribution) asked_ops_ = pipeline_.counters();
}

void Recorder::batch_arrived(double arrived_s, int images) {
  if (begun_.empty() || begun_.back().batches == batches_per_step_) begun_.emplace_back();
  StepBegun& step = begun_.back();
  step.next_s += arrived_s - asked_s_;
  step.images += images;
  ++step.batches;
  if (measure_.attribution) note_meanwhile(step);
  if (first_batch_of_process()) result_.start_to_first_batch_s = arrived_s - measure::process_start_s();
}

void Recorder::note_meanwhile(StepBegun& step) const {
  std::vector<measure::OpCounters> now = pipeline_.counters();
  for (std::size_t i = 0; i < asked_ops_.size(); ++i) now[i] = measure::difference(now[i], asked_ops_[i]);
  if (step.meanwhile.empty()) {
    step.meanwhile = std::move(now);
  } else {
    for (std::size_t i = 0; i < now.size(); ++i) measure::add(step.meanwhile[i], now[i]);
  }
}

void Recorder::look(const engine::Engine& engine) {
  if (engine.steps_finished() == steps_seen_) return;
  const int step = static_cast<int>(steps_seen_++) - measure_.warmup_steps;
  const StepBegun begun = std::move(begun_.front());
  begun_.pop_front();
  if (step >= 0) {
    const measure::StepTimings& timings = engine.timings();
    result_.steps.push_back({.rank = rank_, .step = step, .next_s = begun.next_s, .timings = timings});
    so_far_.images += timings.images;
    so_far_.wall_s += timings.wall_s;
    so_far_.wait_s += timings.wait_s;
    if (measure_.attribution) {
      waits_.step(timings.wait_s, begun.meanwhile);
      sample_ops(step);
    }
  } else if (step == -1) {
    open_ = edge();
  }
  result_.anonymous_rss_bytes = std::max(result_.anonymous_rss_bytes, measure::sample_process().anonymous_rss_bytes);
}

void Recorder::pause() { paused_ = edge(); }

// Moves the beginning of the window by the process's use of resources in the pause. The pipeline's counters continue,
// because batches prepared in a pause are trained on afterwards.
void Recorder::go_on() {
  const Edge now = edge();
  open_.process_cpu_s += now.process_cpu_s - paused_.process_cpu_s;
  open_.cpu_wait_s += now.cpu_wait_s - paused_.cpu_wait_s;
  open_.storage_read_bytes += now.storage_read_bytes - paused_.storage_read_bytes;
}

void Recorder::sample_ops(int step) {
  const int every = (measure_.steps + kMostOpSamples - 1) / kMostOpSamples;
  if (step % every != 0) return;
  const std::vector<measure::OpCounters> now = pipeline_.counters();
  for (std::size_t i = 0; i < now.size(); ++i) {
    result_.op_samples.push_back({.rank = rank_,
                                  .step = step,
                                  .op_index = static_cast<int>(i),
                                  .elements_out = now[i].elements_out - open_.ops[i].elements_out,
                                  .queue_depth = now[i].queue_depth,
                                  .images_held = now[i].images_held,
                                  .bytes_held = now[i].bytes_held});
  }
}

results::RepeatResult Recorder::result() {
  const Edge close = edge();
  for (std::size_t i = 0; i < close.ops.size(); ++i) {
    result_.ops.push_back(measure::difference(close.ops[i], open_.ops[i]));
    // Includes records skipped before the window, because images that were read ahead are trained on within it.
    result_.ops.back().bad_records = close.ops[i].bad_records;
  }
  for (const measure::OpCounters& op : result_.ops) {
    result_.images_decoded += op.images_decoded;
    result_.bytes_read += op.bytes_read;
    result_.bad_records += op.bad_records;
  }
  for (const results::StepRecord& step : result_.steps) {
    result_.wall_s += step.timings.wall_s;
    result_.images_trained += static_cast<std::uint64_t>(step.timings.images);
  }
  result_.images_held_change = close.images_held - open_.images_held;
  result_.process_cpu_s = close.process_cpu_s - open_.process_cpu_s;
  result_.cpu_wait_s = std::max(0.0, close.cpu_wait_s - open_.cpu_wait_s);
  result_.storage_read_bytes = close.storage_read_bytes - open_.storage_read_bytes;
  result_.waits = waits_.close();
  result_.peak_rss_bytes = measure::sample_process().peak_rss_bytes;
  return result_;
}

}  // namespace chexbench::bench

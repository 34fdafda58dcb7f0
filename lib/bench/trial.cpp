#include "bench/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "bench/recorder.hpp"
#include "bench/second_job/second_job.hpp"
#include "bench/step_observer.hpp"
#include "bench/stopping.hpp"
#include "bench/training/epochs.hpp"
#include "bench/trial_data.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "pipeline/pipeline.hpp"

namespace chexbench::bench {
namespace {

BatchLease next_batch(pipeline::Pipeline& pipeline, Recorder& recorder, const TrialContext& context,
                      std::int64_t batch_number, std::int64_t total_batches) {
  recorder.batch_asked(now_s());
  BatchLease batch = pipeline.next();
  const double arrived_s = now_s();
  throw_if_interrupted();
  if (context.stop_at_s && arrived_s >= *context.stop_at_s) throw TimeIsUp();
  if (!batch) {
    throw SpecError(
        fmt::format("pipeline: it ended after {} of {} batches; add {{\"op\": \"repeat\"}} or ask for fewer steps",
                    batch_number, total_batches));
  }
  recorder.batch_arrived(arrived_s, batch->valid);
  return batch;
}

// Which steps a repeat runs, counted from the beginning of the training.
struct Steps {
  std::int64_t first = 0;
  std::int64_t total = 0;
  spec::MeasureSpec measure;  // which of them are measured
};

Steps plan_steps(const spec::MeasureSpec& measure, const std::shared_ptr<Epochs>& epochs) {
  if (!epochs) return {0, std::int64_t{measure.warmup_steps} + measure.steps, measure};
  Steps steps{epochs->first_step(), epochs->total_steps(), measure};
  const auto left = static_cast<int>(steps.total - steps.first);
  steps.measure.warmup_steps = std::min(measure.warmup_steps, left - 1);
  steps.measure.steps = left - steps.measure.warmup_steps;
  return steps;
}

// Drops the batches before the first step, so that a resumed training sees the same images as an uninterrupted one.
void skip_batches(pipeline::Pipeline& pipeline, const TrialContext& context, const Steps& steps) {
  for (std::int64_t step = 0; step < steps.first; ++step) {
    for (int i = 0; i < context.spec.training.accumulate_steps; ++i) pipeline.next();
    throw_if_interrupted();
    if (context.on_step)
      context.on_step({.step = step, .total_steps = steps.total, .first_step = steps.first, .measured = {}});
  }
}

std::unique_ptr<pipeline::Pipeline> make_pipeline(const TrialContext& context, const dataset::Dataset& images) {
  return pipeline::make_pipeline(make_pipeline_context(context.spec, images, context.engine.allocator(),
                                                       {.rank = context.communicator.rank(),
                                                        .world = context.communicator.world(),
                                                        .cores = context.cores,
                                                        .repeat = context.repeat,
                                                        .tuned = context.tuned}));
}

using Observers = std::vector<std::shared_ptr<StepObserver>>;

// Returns the observers of this repeat. Epochs come before the progress line, because a validation takes long.
Observers observers_of(const TrialContext& context, const std::shared_ptr<Epochs>& epochs, const Steps& steps) {
  Observers observers{trace_device_buckets(context.reducer)};
  if (epochs) observers.push_back(epochs);
  if (context.on_step) observers.push_back(report_progress(context.on_step, steps.first, steps.total));
  if (context.second_job != nullptr) observers.push_back(measure_second_job(*context.second_job, context.spec));
  if (!context.shares_cores) observers.push_back(measure_disturbance(context.cores, context.second_job));
  observers.push_back(watch_core_mask(context.cores));
  observers.push_back(sample_gpu(context.gpu_watch, context.communicator.rank()));
  return observers;
}

void run_step(std::int64_t step, const Steps& steps, const TrialContext& context, pipeline::Pipeline& pipeline,
              Recorder& recorder) {
  const int batches = context.spec.training.accumulate_steps;
  for (int i = 0; i < batches; ++i) {
    BatchLease batch = next_batch(pipeline, recorder, context, step * batches + i, steps.total * batches);
    context.engine.step(std::move(batch), context.reducer);
    if (!context.spec.training.overlap_input) context.engine.finish();
    recorder.look(context.engine);
  }
}

// Runs the steps with a new pipeline, which is destroyed on return.
results::RepeatResult run_steps(const TrialContext& context, const std::shared_ptr<Epochs>& epochs) {
  const Steps steps = plan_steps(context.spec.measure, epochs);
  const auto pipeline = make_pipeline(context, epochs ? epochs->training_images() : context.dataset);
  const InterruptWatch watch(*pipeline, context.stop_at_s);
  const Observers observers = observers_of(context, epochs, steps);

  for (const auto& observer : observers) observer->begin_repeat();
  skip_batches(*pipeline, context, steps);
  context.communicator.barrier();
  context.communicator.enter(stepping(steps.total, context.repeat));
  if (!epochs) context.engine.restart();
  for (const auto& observer : observers) observer->begin_steps();
  Recorder recorder(*pipeline, steps.measure, context.communicator.rank(), context.spec.training.accumulate_steps);
  for (std::int64_t step = steps.first; step < steps.total; ++step) {
    context.communicator.enter_step(step);
    for (const auto& observer : observers) observer->before_step(step);
    run_step(step, steps, context, *pipeline, recorder);
    for (const auto& observer : observers) observer->after_step(step, recorder);
    if (epochs && epochs->is_over()) break;
  }
  context.engine.finish();
  recorder.look(context.engine);
  context.communicator.enter({.what = fmt::format("ends repeat {}", context.repeat + 1)});

  results::RepeatResult result = recorder.result();
  result.repeat = context.repeat;
  for (const auto& observer : observers) observer->end_repeat(result);
  return result;
}

}  // namespace

comm::Phase stepping(std::int64_t total_steps, int repeat) {
  return {.what = fmt::format("{} in repeat {}", total_steps, repeat + 1), .patience = comm::Patience::limited};
}

results::RepeatResult run_repeat(const TrialContext& context) {
  std::shared_ptr<Epochs> epochs;
  if (context.spec.training.epochs > 0)
    epochs = std::make_shared<Epochs>(context);  // restarts the engine, or loads a checkpoint
  results::RepeatResult result = run_steps(context, epochs);
  if (context.on_measured) context.on_measured(result);
  if (epochs) epochs->save_last();
  return result;
}

}  // namespace chexbench::bench

#include "bench/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bench/interrupt_watch.hpp"
#include "bench/pipeline_context.hpp"
#include "bench/recorder.hpp"
#include "bench/training/epochs.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "measure/trace.hpp"
#include "pipeline/pipeline.hpp"

namespace chexbench::bench {
namespace {

BatchLease next_batch(pipeline::Pipeline& pipeline, Recorder& recorder, std::int64_t batch_number,
                      std::int64_t total_batches) {
  recorder.batch_asked(now_s());
  BatchLease batch = pipeline.next();
  const double arrived_s = now_s();
  throw_if_interrupted();
  if (!batch) {
    throw SpecError(
        fmt::format("pipeline: it ended after {} of {} batches; add {{\"op\": \"repeat\"}} or ask for fewer steps",
                    batch_number, total_batches));
  }
  recorder.batch_arrived(arrived_s, batch->valid);
  return batch;
}

// The steps of a repeat.
struct Steps {
  std::int64_t first = 0;
  std::int64_t total = 0;
  spec::MeasureSpec measure;  // what of them is measured
};

Steps plan_steps(const spec::MeasureSpec& measure, const std::optional<Epochs>& epochs) {
  if (!epochs) return {0, std::int64_t{measure.warmup_steps} + measure.steps, measure};
  Steps steps{epochs->first_step(), epochs->total_steps(), measure};
  const auto left = static_cast<int>(steps.total - steps.first);
  steps.measure.warmup_steps = std::min(measure.warmup_steps, left - 1);
  steps.measure.steps = left - steps.measure.warmup_steps;
  return steps;
}

// A resumed training sees what it would have seen: the batches before are taken and dropped.
void skip_batches(pipeline::Pipeline& pipeline, const TrialContext& context, const Steps& steps) {
  for (std::int64_t step = 0; step < steps.first; ++step) {
    for (int i = 0; i < context.spec.training.accumulate_steps; ++i) pipeline.next();
    throw_if_interrupted();
    if (context.on_step) context.on_step(step, steps.total);
  }
}

void trace_device_buckets(Reducer& reducer) {
  if (!measure::is_tracing()) return;
  for (const BucketTime& bucket : reducer.take_device_buckets()) {
    measure::record_device_span("nccl", {.name = "bucket",
                                         .kind = measure::SpanKind::bucket,
                                         .begin_s = bucket.begin_s,
                                         .end_s = bucket.end_s,
                                         .detail = static_cast<std::int64_t>(bucket.bytes)});
  }
}

}  // namespace

results::RepeatResult run_repeat(const TrialContext& context) {
  std::optional<Epochs> epochs;
  if (context.spec.training.epochs > 0) epochs.emplace(context);
  const Steps steps = plan_steps(context.spec.measure, epochs);
  const dataset::Dataset& images = epochs ? epochs->training_images() : context.dataset;
  const auto pipeline = pipeline::make_pipeline(make_pipeline_context(context.spec, images, context.engine.allocator(),
                                                                      {.rank = context.communicator.rank(),
                                                                       .world = context.communicator.world(),
                                                                       .cores = context.cores,
                                                                       .repeat = context.repeat}));
  const InterruptWatch watch(*pipeline);
  context.gpu_watch.begin();
  skip_batches(*pipeline, context, steps);
  context.communicator.barrier();
  if (epochs) {
    epochs->begin();  // it has restarted the engine, or gone on from a checkpoint
  } else {
    context.engine.restart();
  }
  if (measure::is_tracing()) context.reducer.take_device_buckets();  // those of the repeat before
  const int batches_per_step = context.spec.training.accumulate_steps;
  Recorder recorder(*pipeline, steps.measure, context.communicator.rank(), batches_per_step);
  for (std::int64_t step = steps.first; step < steps.total; ++step) {
    if (epochs) epochs->before_step(step);
    for (int i = 0; i < batches_per_step; ++i) {
      BatchLease batch = next_batch(*pipeline, recorder, step * batches_per_step + i, steps.total * batches_per_step);
      context.engine.step(std::move(batch), context.reducer);
      recorder.look(context.engine);
    }
    trace_device_buckets(context.reducer);
    if (epochs) epochs->after_step(step, recorder);
    if (context.on_step) context.on_step(step, steps.total);
  }
  context.engine.finish();
  recorder.look(context.engine);
  trace_device_buckets(context.reducer);
  results::RepeatResult result = recorder.result();
  result.repeat = context.repeat;
  if (epochs) result.epochs = epochs->records();
  context.gpu_watch.end();
  result.gpus = context.gpu_watch.series(result, context.communicator.rank());
  return result;
}

}  // namespace chexbench::bench

#include "bench/trial.hpp"

#include <fmt/format.h>

#include <utility>

#include "bench/interrupt_watch.hpp"
#include "bench/pipeline_context.hpp"
#include "bench/recorder.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "measure/trace.hpp"
#include "pipeline/pipeline.hpp"

namespace chexbench::bench {
namespace {

BatchLease next_batch(pipeline::Pipeline& pipeline, Recorder& recorder, int step, int total_steps) {
  recorder.batch_asked(now_s());
  BatchLease batch = pipeline.next();
  const double arrived_s = now_s();
  throw_if_interrupted();
  if (!batch) {
    throw SpecError(
        fmt::format("pipeline: it ended after {} of {} batches; add {{\"op\": \"repeat\"}} or ask for fewer steps",
                    step, total_steps));
  }
  recorder.batch_arrived(arrived_s, batch->valid);
  return batch;
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

report::RepeatResult run_repeat(const TrialContext& context) {
  const int total_steps = context.spec.measure.warmup_steps + context.spec.measure.steps;
  const auto pipeline =
      pipeline::make_pipeline(make_pipeline_context(context.spec, context.dataset, context.engine.allocator(),
                                                    {.rank = context.communicator.rank(),
                                                     .world = context.communicator.world(),
                                                     .cores = context.cores,
                                                     .repeat = context.repeat}));
  const InterruptWatch watch(*pipeline);
  context.gpu_watch.begin();
  context.communicator.barrier();
  context.engine.restart();
  if (measure::is_tracing()) context.reducer.take_device_buckets();  // those of the repeat before
  Recorder recorder(*pipeline, context.spec.measure, context.communicator.rank());
  for (int step = 0; step < total_steps; ++step) {
    BatchLease batch = next_batch(*pipeline, recorder, step, total_steps);
    context.engine.step(std::move(batch), context.reducer);
    recorder.look(context.engine);
    trace_device_buckets(context.reducer);
    if (context.on_step) context.on_step(step, total_steps);
  }
  context.engine.finish();
  recorder.look(context.engine);
  trace_device_buckets(context.reducer);
  report::RepeatResult result = recorder.result();
  result.repeat = context.repeat;
  context.gpu_watch.end();
  result.gpus = context.gpu_watch.series(result, context.communicator.rank());
  return result;
}

}  // namespace chexbench::bench

#include "bench/trial.hpp"

#include <fmt/format.h>

#include <utility>

#include "bench/interrupt_watch.hpp"
#include "bench/recorder.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/random.hpp"
#include "pipeline/pipeline.hpp"

namespace chexbench::bench {
namespace {

pipeline::PipelineContext pipeline_context(const TrialContext& context) {
  const spec::Experiment& spec = context.spec;
  return {.dataset = context.dataset,
          .pipeline = spec.pipeline,
          .data = spec.data,
          .preprocess = spec.preprocess,
          .shape = {.images = spec.training.batch_size,
                    .height = spec.model.image_size,
                    .width = spec.model.image_size,
                    .deliver = spec.data.deliver},
          .allocator = context.engine.allocator(),
          .rank = context.communicator.rank(),
          .world = context.communicator.world(),
          // Arms of one round see the same order of images; rounds see different ones.
          .seed = derive_seed(spec.measure.seed, static_cast<std::uint64_t>(context.repeat)),
          .cores = context.cores};
}

BatchLease next_batch(pipeline::Pipeline& pipeline, Recorder& recorder, int step, int total_steps) {
  const double asked_s = now_s();
  BatchLease batch = pipeline.next();
  recorder.batch_arrived(asked_s, now_s());
  throw_if_interrupted();
  if (!batch) {
    throw SpecError(
        fmt::format("pipeline: it ended after {} of {} batches; add {{\"op\": \"repeat\"}} or ask for fewer steps",
                    step, total_steps));
  }
  return batch;
}

}  // namespace

report::RepeatResult run_repeat(const TrialContext& context) {
  const int total_steps = context.spec.measure.warmup_steps + context.spec.measure.steps;
  context.engine.restart();
  const auto pipeline = pipeline::make_pipeline(pipeline_context(context));
  const InterruptWatch watch(*pipeline);
  Recorder recorder(*pipeline, context.spec.measure.warmup_steps, context.communicator.rank());
  context.communicator.barrier();
  for (int step = 0; step < total_steps; ++step) {
    BatchLease batch = next_batch(*pipeline, recorder, step, total_steps);
    context.engine.step(std::move(batch), context.reducer);
    recorder.look(context.engine);
    if (context.on_step) context.on_step(step, total_steps);
  }
  context.engine.finish();
  recorder.look(context.engine);
  report::RepeatResult result = recorder.result();
  result.repeat = context.repeat;
  return result;
}

}  // namespace chexbench::bench

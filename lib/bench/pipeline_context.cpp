#include "bench/pipeline_context.hpp"

#include "core/random.hpp"

namespace chexbench::bench {

image::PixelSpec pixels_of(const spec::TrialSpec& spec) {
  return {.image_size = spec.model.image_size, .resize = spec.preprocess.resize, .color = spec::color_of(spec.data)};
}

pipeline::PipelineContext make_pipeline_context(const spec::TrialSpec& spec, const dataset::Dataset& dataset,
                                                PinnedAllocator& allocator, const RankPlace& place) {
  return {.dataset = dataset,
          .pipeline = spec.pipeline,
          .data = spec.data,
          .preprocess = spec.preprocess,
          .shape = {.images = spec.training.batch_size,
                    .height = spec.model.image_size,
                    .width = spec.model.image_size,
                    .deliver = spec::delivered(spec.data),
                    .labels = dataset.labels()},
          .allocator = allocator,
          .rank = place.rank,
          .world = place.world,
          .seed = derive_seed(spec.measure.seed, static_cast<std::uint64_t>(place.repeat)),
          .timed = spec.measure.attribution,
          .exclusive_labels = spec.training.task == spec::Task::classes,
          .cores = place.cores,
          .tuned = place.tuned};
}

}  // namespace chexbench::bench

// What a trial's spec says about its pipeline.
#pragma once

#include "pipeline/pipeline.hpp"
#include "spec/experiment.hpp"

namespace chexbench::bench {

// One rank of the trial.
struct RankPlace {
  int rank = 0;
  int world = 1;
  std::vector<int> cores;
  int repeat = 0;  // rounds see different orders of images, arms of one round the same
};

image::PixelSpec pixels_of(const spec::Experiment& spec);

// References must outlive the context.
pipeline::PipelineContext make_pipeline_context(const spec::Experiment& spec, const dataset::Dataset& dataset,
                                                PinnedAllocator& allocator, const RankPlace& place);

}  // namespace chexbench::bench

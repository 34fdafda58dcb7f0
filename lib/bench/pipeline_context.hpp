// Translates a trial's spec into what lib/pipeline builds a pipeline from.
#pragma once

#include "pipeline/pipeline.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// A rank of the trial, and the repeat that it measures.
struct RankPlace {
  int rank = 0;
  int world = 1;
  std::vector<int> cores;
  int repeat = 0;  // part of the seed: repeats have different orders of images, arms of one round have the same
  pipeline::TunedValues tuned;  // the values of what is "auto"
};

// Returns what identifies the cached pixels that the trial would read.
image::PixelSpec pixels_of(const spec::TrialSpec& spec);

// Returns the context of one rank's pipeline. It refers to `spec`, `dataset` and `allocator`, which must outlive it and
// the pipeline.
pipeline::PipelineContext make_pipeline_context(const spec::TrialSpec& spec, const dataset::Dataset& dataset,
                                                PinnedAllocator& allocator, const RankPlace& place);

}  // namespace chexbench::bench

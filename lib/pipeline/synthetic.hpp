// data.format synthetic: batches made once and handed out again and again, the ceiling of the compute side.
#pragma once

#include <memory>

#include "pipeline/pipeline.hpp"

namespace chexbench::pipeline {

// Endless. The op list is ignored; counters() has one entry, "synthetic". Pixels are noise, in the range that real ones
// have; labels are set at random for one image in eight each, about what ChestX-ray14 has.
std::unique_ptr<Pipeline> make_synthetic_pipeline(const PipelineContext& context);

}  // namespace chexbench::pipeline

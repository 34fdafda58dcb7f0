// The pipeline for data.format synthetic: its batches are made once and delivered again and again, so it costs almost
// nothing and shows the upper limit of the compute side.
#pragma once

#include <memory>

#include "pipeline/pipeline.hpp"

namespace chexbench::pipeline {

// Returns an endless pipeline. It ignores the op list, and counters() has one entry, "synthetic". Pixels are noise in
// the range of real ones; each label of each image is 1 with probability 1/8.
// @throws DeviceError or std::bad_alloc if the batches cannot be allocated
std::unique_ptr<Pipeline> make_synthetic_pipeline(const PipelineContext& context);

}  // namespace chexbench::pipeline

// Builds the ops of a pipeline from the op list of the spec, or the pipeline of ready-made batches.
#pragma once

#include <memory>
#include <vector>

#include "pipeline/op.hpp"
#include "pipeline/pipeline.hpp"

namespace chexbench::pipeline {

// Returns the ops of `resources.context.pipeline` in the order of the list; the last one delivers batches. Starts no
// threads. `resources` must outlive the ops.
// @throws SpecError if the op list cannot work
// @throws DataError if there are more ranks than files to shard
std::vector<std::unique_ptr<Op>> build_ops(Resources& resources);

// Does the same, but checks neither which op can follow which nor that the list ends in batches. It is for lists that
// are already checked, and for parts of a list.
std::vector<std::unique_ptr<Op>> build_chain(Resources& resources);

// Returns how many batches can be in use at once: those that the ops may hold, plus kLeasesOut.
std::size_t batches_in_use(const std::vector<std::unique_ptr<Op>>& ops);

// How many leases the consumer may hold at once: the batch that it works on, the batch that an asynchronous upload
// still reads, and the batch that it asks for.
inline constexpr std::size_t kLeasesOut = 3;

// Returns the endless pipeline for data.format ready: its batches are made once and delivered again and again, so
// it costs almost nothing and shows the upper limit of the compute side. It ignores the op list, and counters() has one
// entry, "ready". Pixels are noise in the range of real ones; each label of each image is 1 with probability 1/8.
// @throws DeviceError or std::bad_alloc if the batches cannot be allocated
std::unique_ptr<Pipeline> make_ready_pipeline(const PipelineContext& context);

}  // namespace chexbench::pipeline

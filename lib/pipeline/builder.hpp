// From an op list to ops.
#pragma once

#include <memory>
#include <vector>

#include "pipeline/op.hpp"

namespace chexbench::pipeline {

// The ops of `resources.context.pipeline`, in order; the last one delivers. Starts nothing.
// @throws SpecError for an op list that cannot work, DataError: more ranks than files
std::vector<std::unique_ptr<Op>> build_ops(Resources& resources);

// The same without checking which op can follow which, nor that the list ends in batches: for lists already checked.
std::vector<std::unique_ptr<Op>> build_chain(Resources& resources);

// Batches that the ops may hold at once, and those that may be out with the consumer.
std::size_t batches_in_use(const std::vector<std::unique_ptr<Op>>& ops);

// Leases that the consumer may hold at once: the one it works on, the one that an asynchronous upload still reads, and
// the one it asks for.
inline constexpr std::size_t kLeasesOut = 3;

}  // namespace chexbench::pipeline

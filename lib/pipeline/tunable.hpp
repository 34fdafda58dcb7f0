// The values of parameters that are "auto": what an op has as long as nothing was measured, and what can be tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pipeline/op.hpp"

namespace chexbench::pipeline {

// The order of records under cycle_length "auto" is that of this cycle, the default, whatever number of files is found
// to be read at once.
inline constexpr std::int64_t kAutoCycle = 10;
// Calls a core with which "auto" begins. Results are taken in order, so that a call that is done may have to wait for
// an earlier one, and a limit of one call a core would leave cores idle meanwhile.
inline constexpr unsigned kCallsPerCore = 2;
// The blocks (block_length records) of each open file that a parallel interleave keeps ready.
inline constexpr std::size_t kBlocksAhead = 4;

// Returns the number that the op's parameter `name` has: that of the spec, or if it is "auto" the one that was found,
// or the start of what can be tried.
std::size_t value_of(const OpSetup& setup, const std::string& name);

// Returns whether an interleave has reads that can overlap. The record of a PNG or of cached pixels is a handle, unless
// the store is distant: then interleave reads the PNG's bytes.
bool reads_files(const PipelineContext& context);

// Returns how many files an interleave opens with this cycle_length: those of the cycle and those ahead of it. Where
// each file is one record, twice the cycle is ahead, as in tf.data's parallel_interleave (prefetch_input_elements):
// with fewer, the files of a distant store would come almost one after another. Of shards one is enough, and each reads
// megabytes ahead.
std::size_t files_open(const PipelineContext& context, std::size_t cycle_length);

}  // namespace chexbench::pipeline

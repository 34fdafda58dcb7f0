// The values of parameters that are "auto": the value used until something was measured, and those that can be tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pipeline/op.hpp"

namespace chexbench::pipeline {

// The order of records under cycle_length "auto" is that of this cycle, the default, regardless of how many files are
// found to be read at once.
inline constexpr std::int64_t kAutoCycle = 10;
// Calls per core with which "auto" begins. Results are taken in order, so a finished call may have to wait for an
// earlier one; one call per core would leave cores idle meanwhile.
inline constexpr unsigned kCallsPerCore = 2;
// The blocks (block_length records) of each open file that a parallel interleave keeps ready.
inline constexpr std::size_t kBlocksAhead = 4;

// Returns the value of the op's parameter `name`: the spec's, or for "auto" the one that was found, else the start of
// those to try.
std::size_t value_of(const OpSetup& setup, const std::string& name);

// Returns whether an interleave has reads that can overlap. The record of a PNG or of cached pixels is a handle, unless
// the store is distant: then interleave reads the PNG's bytes.
bool reads_files(const PipelineContext& context);

// Returns how many files an interleave opens with this cycle_length: those of the cycle and those ahead of it. If each
// file is one record, twice the cycle is opened ahead, as in tf.data's parallel_interleave (prefetch_input_elements):
// with fewer, the files of a distant store would come almost one after another. For shards one is enough, because each
// reads megabytes ahead.
std::size_t files_open(const PipelineContext& context, std::size_t cycle_length);

}  // namespace chexbench::pipeline

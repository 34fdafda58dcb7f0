// The functions that make each op. Each op is implemented in the .cpp file of its name.
// All @throw SpecError if the op cannot work with its parameters or input, and DataError if it cannot work with the
// data set.
#pragma once

#include <memory>

#include "pipeline/op.hpp"

namespace chexbench::pipeline {

std::unique_ptr<Op> make_list_files(const OpSetup& setup);  // A source: the files of the split.
std::unique_ptr<Op> make_shard(const OpSetup& setup);       // Keeps every world-th element, beginning with the rank-th.
std::unique_ptr<Op> make_shuffle(const OpSetup& setup);     // Draws from a buffer at random.
std::unique_ptr<Op> make_read(const OpSetup& setup);        // Files to records, one file after the other.
std::unique_ptr<Op> make_interleave(const OpSetup& setup);  // Files to records, alternating between several files.
std::unique_ptr<Op> make_map(const OpSetup& setup);         // Records to examples.
std::unique_ptr<Op> make_batch(const OpSetup& setup);       // Examples to batches.
std::unique_ptr<Op> make_map_and_batch(const OpSetup& setup);   // Records to batches, decoded in parallel.
std::unique_ptr<Op> make_worker_batches(const OpSetup& setup);  // Files to batches, each made by one worker.
std::unique_ptr<Op> make_prefetch(const OpSetup& setup);        // Runs its input ahead on a thread.
std::unique_ptr<Op> make_repeat(const OpSetup& setup);          // Runs its input again for each epoch.
std::unique_ptr<Op> make_cache(const OpSetup& setup);           // Keeps the elements of the first epoch.
std::unique_ptr<Op> make_take(const OpSetup& setup);            // Ends after a number of elements.

}  // namespace chexbench::pipeline

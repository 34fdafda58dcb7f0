// The functions that make each op. Each op is implemented in the .cpp file of its name.
// All of them @throw SpecError if the op cannot work with its parameters or input, and
// DataError if it cannot work with the data set.
#pragma once

#include <memory>

#include "pipeline/op.hpp"

namespace chexbench::pipeline {

std::unique_ptr<Op> make_list_files(const OpSetup& setup);
std::unique_ptr<Op> make_shard(const OpSetup& setup);
std::unique_ptr<Op> make_shuffle(const OpSetup& setup);
std::unique_ptr<Op> make_read(const OpSetup& setup);
std::unique_ptr<Op> make_interleave(const OpSetup& setup);
std::unique_ptr<Op> make_map(const OpSetup& setup);
std::unique_ptr<Op> make_batch(const OpSetup& setup);
std::unique_ptr<Op> make_map_and_batch(const OpSetup& setup);
std::unique_ptr<Op> make_worker_batches(const OpSetup& setup);
std::unique_ptr<Op> make_prefetch(const OpSetup& setup);
std::unique_ptr<Op> make_repeat(const OpSetup& setup);
std::unique_ptr<Op> make_cache(const OpSetup& setup);
std::unique_ptr<Op> make_take(const OpSetup& setup);

}  // namespace chexbench::pipeline

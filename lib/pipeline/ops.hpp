// The list of all ops. Each is implemented by a function make_NAME(), most in a .cpp file of their name.
// All of them @throw SpecError if the op cannot work with its parameters or input, and DataError if it cannot work with
// the data set.
#pragma once

#include <memory>

#include "pipeline/op.hpp"

#define CHEXBENCH_FOR_EACH_OP(DO) \
  DO(list_files)                  \
  DO(shard)                       \
  DO(shuffle)                     \
  DO(read)                        \
  DO(interleave)                  \
  DO(map)                         \
  DO(batch)                       \
  DO(map_and_batch)               \
  DO(worker_batches)              \
  DO(prefetch)                    \
  DO(repeat)                      \
  DO(cache)                       \
  DO(take)

namespace chexbench::pipeline {

#define CHEXBENCH_DECLARE(op) std::unique_ptr<Op> make_##op(const OpSetup& setup);
CHEXBENCH_FOR_EACH_OP(CHEXBENCH_DECLARE)
#undef CHEXBENCH_DECLARE

}  // namespace chexbench::pipeline

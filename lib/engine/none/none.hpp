// The engine that drops batches at once: the ceiling of the input side.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace chexbench::engine {

// A step of `accumulate_steps` batches ends with the last one's step(); all its time is wait. Takes batches that are
// not full. No weights, no gradients, and it never calls the reducer.
std::unique_ptr<Engine> make_none_engine(int accumulate_steps);

}  // namespace chexbench::engine

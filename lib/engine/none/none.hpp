// The engine that drops batches at once: the ceiling of the input side.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace chexbench::engine {

// Every step ends inside step(); all its time is wait. Takes batches that are not full. No weights, no gradients, and
// it never calls the reducer.
std::unique_ptr<Engine> make_none_engine();

}  // namespace chexbench::engine

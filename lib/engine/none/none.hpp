// The engine that drops batches at once. It shows the highest rate that the input pipeline can deliver.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace chexbench::engine::none {

// Builds the engine. A step of `accumulate_steps` batches ends with the last batch's step(), and all its time counts as
// wait. Accepts batches that are not full. It has no weights or gradients and never calls the reducer.
std::unique_ptr<Engine> make_none_engine(int accumulate_steps);

// This engine's entry in the registry.
const EngineKind& kind();

}  // namespace chexbench::engine::none

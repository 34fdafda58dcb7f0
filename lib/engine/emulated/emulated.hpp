// The engine that takes a device's time without its arithmetic, so that input pipelines, storage and scaling can be
// tested without accelerators, as MLPerf Storage does.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.hpp"

namespace chexbench::engine {

// A device of the profile `name_or_path` (spec/profile.hpp). Its steps run on a thread of its own that sleeps until
// absolute deadlines, so late wake-ups do not add up; timings are the device's. A batch's lease ends when the device
// begins its step: published step times contain the upload. Batches must be full. Under comm.model "real" and more
// than one rank it holds f32 buffers of the gradients' sizes and averages them through the reducer, which must stay
// valid until finish() or the engine's destruction.
// @throws SpecError: unknown profile, or no time in it for this model, image size and precision
std::unique_ptr<Engine> make_emulated_engine(const std::string& name_or_path, const EngineConfig& config);

}  // namespace chexbench::engine

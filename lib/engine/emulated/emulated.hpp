// The engine that takes a device's time without its arithmetic. Like MLPerf Storage, it tests input pipelines, storage
// and scaling without accelerators.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.hpp"

namespace chexbench::engine::emulated {

// Builds an engine that emulates the device of the profile `name_or_path` (spec/profile.hpp). Its steps run on a
// separate thread that sleeps until absolute deadlines, so late wake-ups do not add up, and its timings are those of
// the device. The lease of a batch ends when the device begins the batch, because published step times contain the
// upload. Batches must be full. If gradients are sent for real (comm.model "real" or "shaped") and there is more than
// one rank, the engine holds zero-filled f32 buffers of the gradients' sizes and averages them through the reducer,
// which must stay valid until finish() or the engine's destruction. If the network is modelled (alpha_beta), the engine
// meets the other ranks at the start of each step, so that none gets ahead: its wait for them counts as exposed
// communication. With comm.model "none", ranks do not wait for each other.
// @throws SpecError if the profile is unknown, has no time for this model, image size and precision, or contains
// communication that comm.model would count twice
std::unique_ptr<Engine> make_emulated_engine(const std::string& name_or_path, const EngineConfig& config);

// This engine's entry in the registry.
const EngineKind& kind();

}  // namespace chexbench::engine::emulated

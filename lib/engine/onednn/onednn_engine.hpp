// The engine that trains on CPUs, with oneDNN's convolutions.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace chexbench::engine {

// Forward, backward and update on `config.cores` (one OpenMP thread each; the calling thread is bound to them and must
// be the one that drives the engine). f32, and bf16 where the CPU has AVX512-BF16 (or better).
// Loads oneDNN at the first call.
// @throws DeviceError where this build has no oneDNN, or for a precision this CPU lacks; SpecError for a wrong model
std::unique_ptr<Engine> make_onednn_engine(const EngineConfig& config);

// Whether this build has it.
bool has_onednn();

}  // namespace chexbench::engine

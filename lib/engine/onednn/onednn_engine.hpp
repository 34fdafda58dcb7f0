// The engine that trains on CPUs, with oneDNN's convolutions. Other folders include only this header: oneDNN itself
// is in a module that is loaded on demand.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/engine.hpp"

namespace chexbench::engine::onednn {

// Returns an engine that computes on `config.cores`, with one OpenMP thread per core, or on one thread without
// binding if there are none. Binds the calling thread to these cores; only that thread may drive the engine. Trains
// in f32, and in bf16 if the CPU has AVX512-BF16. The first call loads oneDNN. It sets
// OMP_WAIT_POLICY=passive unless the user has set that variable, sets OMP_PROC_BIND=false, and unsets OMP_PLACES and
// GOMP_CPU_AFFINITY. OMP_NUM_THREADS has no effect: `config.cores` decides.
// @throws DeviceError if this build has no oneDNN, its module cannot be loaded, this CPU lacks the precision, or the
//     engine cannot compute a layer of the network
// @throws SpecError if the model is unknown or its images are too small
// @throws DataError if the file of initial weights cannot be read
// @throws std::bad_alloc if there is not enough memory
std::unique_ptr<Engine> make_onednn_engine(const EngineConfig& config);

// Whether this build has the engine. Loads nothing.
bool has_onednn();

// Returns the version of oneDNN, "2.7.2"; std::nullopt if make_onednn_engine() has not loaded it yet. Loads nothing.
// Thread-safe.
std::optional<std::string> loaded_onednn_version();

// This engine's entry in the registry.
const EngineKind& kind();

}  // namespace chexbench::engine::onednn

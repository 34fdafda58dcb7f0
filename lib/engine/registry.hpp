// The kinds of engines, and the facts about each that need no engine. Each folder of this room has one kind; code
// outside uses this header, and includes none of such a folder.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "measure/gpu_survey.hpp"
#include "model/graph.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine {

// One line of a forecast of device memory.
struct DeviceMemoryLine {
  std::string what;  // Purpose of this part, in words.
  std::size_t bytes = 0;
};

// A kind of engine. An engine's name in a spec is a kind, or a kind and a profile: "emulated:v100".
struct EngineKind {
  std::string_view name;
  bool takes_profile = false;
  bool drops_batches = false;    // It accepts batches of any kind, for whatever network: spec::has_engine() is false.
  bool trains = false;           // As EngineTraits::trains.
  bool computes_on_gpu = false;  // Gradients are in device memory, on the GPU EngineConfig::gpu.
  bool for_auto = false;         // The engine `auto` may choose it.
  bool planned_anywhere = true;  // Even if it is not usable, its trials can be planned (--dry-run).

  // Whether this build has the engine and this machine its device, as far as that is known without loading anything.
  bool (*usable)() = [] { return true; };
  // Returns the instruction sets that its kernels use on this CPU: that of f32, then those of bf16; loads nothing.
  // Null: it does not compute on the CPU. @throws SpecError if CHEXBENCH_ISA is an unknown word
  std::string (*instruction_sets)() = nullptr;
  // Builds the engine; `profile` is empty for a kind that takes none. @throws as make_engine()
  std::unique_ptr<Engine> (*make)(const std::string& profile, const EngineConfig& config) = nullptr;
  // Checks that the engine can compute the layers of a network; null: it can, or does not compute them.
  // @throws DeviceError that names network, engine and layer
  void (*check_layers)(const model::Graph& graph, const spec::ModelSpec& model) = nullptr;
  // The result of forecast_device_memory(); null: nothing, because it allocates none.
  std::vector<DeviceMemoryLine> (*forecast_device_memory)(const EngineConfig& config) = nullptr;
  // Returns the libraries that its engines compute with, and the versions of those that this process has loaded; loads
  // nothing. Null: it computes with none.
  std::vector<measure::LibraryVersion> (*libraries)() = nullptr;
};

// All kinds. `auto` chooses the first usable one that allows it.
std::span<const EngineKind* const> engine_kinds();

// The kind of the engine of that name; null for `auto` and for unknown names.
const EngineKind* find_engine_kind(const std::string& name);

// The profile in the name of an engine whose kind takes one: "v100" of "emulated:v100".
std::optional<std::string> profile_of_engine(const std::string& name);

// A GPU's names in other tools.
struct GpuIdentity {
  std::string name;        // "NVIDIA H100 80GB HBM3"
  std::string uuid;        // "GPU-...", as in NVML
  std::string pci_bus_id;  // "0000:17:00.0"
};

// Returns the GPUs that CUDA shows this process, in CUDA's order, which is also that of EngineConfig::gpu. Loads CUDA.
// @throws DeviceError if this build has no CUDA, there is no driver or one that is too old, or there is no GPU
std::vector<GpuIdentity> visible_gpus();

// Forecasts the engine's single device allocation, in parts; this needs no GPU. `name` must be resolved
// (resolve_engine_name()). The workspace of convolutions is not included, because its size is only known after they
// have been tuned. Returns an empty list for an engine that does not compute on a GPU.
// @throws SpecError if the network is unknown or the image size does not suit it
// @throws DeviceError if the engine cannot compute the network
std::vector<DeviceMemoryLine> forecast_device_memory(const std::string& name, const EngineConfig& config);

// Checks the model for the engine of that (resolved) name. The engine's device is not needed. The engine `none` accepts
// everything, since it drops its batches.
// @throws SpecError if the network is unknown or the images are too small for it
// @throws DeviceError if the engine cannot compute one of the layers; the message names network, engine and layer
void check_network(const std::string& engine, const spec::ModelSpec& model);

}  // namespace chexbench::engine

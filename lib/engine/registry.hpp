// The kinds of engines, and the facts about each that need no engine. Each folder of this room has one kind; code
// outside uses this header, and includes none of such a folder.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "engine/gpus.hpp"
#include "measure/gpu_survey.hpp"
#include "model/graph.hpp"

namespace chexbench::engine {

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

}  // namespace chexbench::engine

#include "engine/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/errors.hpp"
#include "engine/cuda/cuda_engine.hpp"
#include "engine/emulated/emulated.hpp"
#include "engine/none/none.hpp"
#include "engine/onednn/onednn_engine.hpp"
#include "model/networks.hpp"
#include "spec/profile.hpp"

namespace chexbench::engine {
namespace {

std::string prefix_of(const EngineKind& kind) { return std::string(kind.name) + ":"; }

bool has_name(const EngineKind& kind, const std::string& name) {
  return kind.takes_profile ? name.starts_with(prefix_of(kind)) : name == kind.name;
}

[[noreturn]] void throw_unknown(const std::string& name) {
  std::vector<std::string> known{"auto"};
  for (const EngineKind* kind : engine_kinds()) {
    if (!kind->takes_profile) known.emplace_back(kind->name);
  }
  for (const EngineKind* kind : engine_kinds()) {
    if (!kind->takes_profile) continue;
    for (const std::string& profile : spec::profile_names()) known.push_back(prefix_of(*kind) + profile);
  }
  throw SpecError(fmt::format("engine: unknown engine '{}'{}", name, suggestion(name, known)));
}

// The usable engine that the name denotes; null: none.
const EngineKind* resolve(const std::string& name) {
  if (name == "auto") {
    const auto kinds = engine_kinds();
    const auto found =
        std::ranges::find_if(kinds, [](const EngineKind* kind) { return kind->for_auto && kind->usable(); });
    return found == kinds.end() ? nullptr : *found;
  }
  const EngineKind* const kind = find_engine_kind(name);
  if (kind == nullptr) throw_unknown(name);
  return kind->planned_anywhere || kind->usable() ? kind : nullptr;
}

}  // namespace

std::span<const EngineKind* const> engine_kinds() {
  static const std::array kinds{&cuda::kind(), &onednn::kind(), &none::kind(), &emulated::kind()};
  return kinds;
}

const EngineKind* find_engine_kind(const std::string& name) {
  const auto kinds = engine_kinds();
  const auto found = std::ranges::find_if(kinds, [&](const EngineKind* kind) { return has_name(*kind, name); });
  return found == kinds.end() ? nullptr : *found;
}

std::optional<std::string> profile_of_engine(const std::string& name) {
  const EngineKind* const kind = find_engine_kind(name);
  if (kind == nullptr || !kind->takes_profile) return std::nullopt;
  return name.substr(prefix_of(*kind).size());
}

bool computes_on_gpu(const std::string& name) {
  const EngineKind* const kind = find_engine_kind(name);
  return kind != nullptr && kind->computes_on_gpu;
}

std::unique_ptr<Engine> make_engine(const std::string& name, const EngineConfig& config) {
  const std::string resolved = resolve_engine_name(name);
  return find_engine_kind(resolved)->make(profile_of_engine(resolved).value_or(""), config);
}

std::string resolve_engine_name(const std::string& name) {
  if (const EngineKind* const kind = resolve(name)) return name == "auto" ? std::string(kind->name) : name;
  throw DeviceError(fmt::format(
      "engine: '{}' has nothing to train on, because this build has no oneDNN; install libdnnl-dev and build "
      "again, or ask for 'none' or 'emulated:<profile>'",
      name));
}

std::vector<DeviceMemoryLine> forecast_device_memory(const std::string& name, const EngineConfig& config) {
  const EngineKind* const kind = find_engine_kind(name);
  if (kind == nullptr || kind->forecast_device_memory == nullptr) return {};
  return kind->forecast_device_memory(config);
}

void check_network(const std::string& engine, const spec::ModelSpec& model) {
  const EngineKind* const kind = find_engine_kind(engine);
  if (kind != nullptr && kind->drops_batches) return;
  const model::Graph graph = model::make_network(model.name, model.image_size);
  if (kind != nullptr && kind->check_layers != nullptr) kind->check_layers(graph, model);
}

}  // namespace chexbench::engine

#include "core/cpu_features.hpp"
#include "engine/onednn/kernels.hpp"
#include "engine/onednn/onednn_engine.hpp"
#include "engine/registry.hpp"

namespace chexbench::engine::onednn {

const EngineKind& kind() {
  static constexpr EngineKind kKind{
      .name = "onednn",
      .trains = true,
      .for_auto = true,
      .planned_anywhere = false,
      .usable = has_onednn,
      .instruction_sets = [] { return instruction_sets(cpu_features()); },
      .make = [](const std::string&, const EngineConfig& config) { return make_onednn_engine(config); },
      .libraries =
          [] {
            return std::vector<measure::LibraryVersion>{{"oneDNN", loaded_onednn_version()}};
          }};
  return kKind;
}

}  // namespace chexbench::engine::onednn

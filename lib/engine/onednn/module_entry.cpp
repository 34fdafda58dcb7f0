// Defines the only symbol that onednn_module.cpp looks up in the module. The caller owns the engine.
#include "engine/onednn/trainer.hpp"

extern "C" chexbench::engine::Engine* chexbench_make_onednn_engine(const chexbench::engine::EngineConfig& config) {
  return new chexbench::engine::onednn::OnednnEngine(config);
}

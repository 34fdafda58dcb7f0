// Defines the symbols that onednn_module.cpp looks up in the module.
#include <fmt/format.h>

#include <dnnl.hpp>
#include <string>

#include "engine/onednn/trainer.hpp"

// The caller owns the engine.
extern "C" chexbench::engine::Engine* chexbench_make_onednn_engine(const chexbench::engine::EngineConfig& config) {
  return new chexbench::engine::onednn::OnednnEngine(config);
}

extern "C" void chexbench_onednn_version(std::string& version) {
  const dnnl::version_t* const number = dnnl::version();
  version = fmt::format("{}.{}.{}", number->major, number->minor, number->patch);
}

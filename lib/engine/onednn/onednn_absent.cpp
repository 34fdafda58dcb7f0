#include "core/errors.hpp"
#include "engine/onednn/onednn_engine.hpp"

namespace chexbench::engine::onednn {

std::unique_ptr<Engine> make_onednn_engine(const EngineConfig&) {
  throw DeviceError(
      "engine 'onednn': this build has no oneDNN; install libdnnl-dev and build again, or use engine 'none' or "
      "'emulated:<profile>'");
}

bool has_onednn() { return false; }

std::optional<std::string> loaded_onednn_version() { return std::nullopt; }

}  // namespace chexbench::engine::onednn

// Loads the module that contains the engine. oneDNN is 40 MB that no other engine needs. libgomp reads OMP_WAIT_POLICY
// only once, when it is loaded, so it must not be linked to the program that sets the variable.
#include <cstdlib>

#include "core/module.hpp"
#include "engine/onednn/onednn_engine.hpp"

namespace chexbench::engine::onednn {
namespace {

using MakeFunction = Engine*(const EngineConfig&);

MakeFunction* load() {
  // OpenMP threads that spin while they wait take time from decoders on the same cores. If they sleep instead, and both
  // run at once, decode is 38 % faster and convolutions 19 %. A policy that the user has set is kept.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  return reinterpret_cast<MakeFunction*>(
      module_symbol("engine 'onednn'", "libchexbench_onednn.so", "chexbench_make_onednn_engine"));
}

}  // namespace

std::unique_ptr<Engine> make_onednn_engine(const EngineConfig& config) {
  static MakeFunction* const make = load();
  return std::unique_ptr<Engine>(make(config));
}

bool has_onednn() { return true; }

}  // namespace chexbench::engine::onednn

// Loads the module that holds the engine: oneDNN is 40 MB that no other engine needs, and libgomp reads
// OMP_WAIT_POLICY when it is loaded, never again, so it must not be linked to the program that sets the policy.
#include <cstdlib>

#include "core/module.hpp"
#include "engine/onednn/onednn_engine.hpp"

namespace chexbench::engine {
namespace {

using MakeFunction = Engine*(const EngineConfig&);

MakeFunction* load() {
  // Spinning OpenMP threads starve the decoders on the same cores: parked ones give decode 38 % and convolutions 19 %
  // more when both run. A policy that the user has set stays.
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

}  // namespace chexbench::engine

// Loads the module that contains the engine. oneDNN is 40 MB that no other engine needs. libgomp reads OMP_WAIT_POLICY
// only once, when it is loaded, so it must not be linked to the program that sets the variable.
#include <atomic>
#include <cstdlib>

#include "core/module.hpp"
#include "engine/onednn/onednn_engine.hpp"

namespace chexbench::engine::onednn {
namespace {

using MakeFunction = Engine*(const EngineConfig&);
using VersionFunction = void(std::string&);

constexpr const char* kOwner = "engine 'onednn'";
constexpr const char* kFile = "libchexbench_onednn.so";

std::atomic<bool> module_is_loaded = false;

MakeFunction* load() {
  // OpenMP threads that spin while waiting take time from decoders on the same cores. If they sleep instead, and both
  // run at once, decode is 38 % faster and convolutions 19 %. A policy that the user has set is kept.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  // The engine binds its threads to its rank's cores. libgomp would count places from the process's first core, and put
  // threads of one rank on another one's cores.
  setenv("OMP_PROC_BIND", "false", 1);
  for (const char* const name : {"OMP_PLACES", "GOMP_CPU_AFFINITY"}) unsetenv(name);
  auto* const make = reinterpret_cast<MakeFunction*>(module_symbol(kOwner, kFile, "chexbench_make_onednn_engine"));
  module_is_loaded = true;
  return make;
}

}  // namespace

std::unique_ptr<Engine> make_onednn_engine(const EngineConfig& config) {
  static MakeFunction* const make = load();
  return std::unique_ptr<Engine>(make(config));
}

bool has_onednn() { return true; }

std::optional<std::string> loaded_onednn_version() {
  if (!module_is_loaded) return std::nullopt;
  std::string version;
  reinterpret_cast<VersionFunction*>(module_symbol(kOwner, kFile, "chexbench_onednn_version"))(version);
  return version;
}

}  // namespace chexbench::engine::onednn

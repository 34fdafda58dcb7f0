// Loads the module that holds the engine: oneDNN is 40 MB that no other engine needs, and libgomp reads
// OMP_WAIT_POLICY when it is loaded, never again, so it must not be linked to the program that sets the policy.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/errors.hpp"
#include "engine/onednn/onednn_engine.hpp"

namespace chexbench::engine {
namespace {

constexpr const char* kModule = "libchexbench_onednn.so";
using MakeFunction = Engine*(const EngineConfig&);

// Beside the executable in a build tree, in ../lib/chexbench where installed.
void* open_module() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::string reasons;
  for (const auto& path : {folder / kModule, folder.parent_path() / CHEXBENCH_MODULE_FOLDER / kModule}) {
    if (void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); module != nullptr) return module;
    reasons += std::string(reasons.empty() ? "" : "; ") + dlerror();
  }
  throw DeviceError("engine 'onednn': its module cannot be loaded: " + reasons);
}

MakeFunction* load() {
  // Spinning OpenMP threads starve the decoders on the same cores: parked ones give decode 38 % and convolutions 19 %
  // more when both run. A policy that the user has set stays.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  void* const symbol = dlsym(open_module(), "chexbench_make_onednn_engine");
  if (symbol == nullptr)
    throw DeviceError(std::string("engine 'onednn': its module is of another build: ") + dlerror());
  return reinterpret_cast<MakeFunction*>(symbol);
}

}  // namespace

std::unique_ptr<Engine> make_onednn_engine(const EngineConfig& config) {
  static MakeFunction* const make = load();
  return std::unique_ptr<Engine>(make(config));
}

bool has_onednn() { return true; }

}  // namespace chexbench::engine

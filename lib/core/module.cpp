#include "core/module.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "core/errors.hpp"

namespace chexbench {
namespace {

void* open_module(const std::string& owner, const char* file) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::string reasons;
  for (const auto& path : {folder / file, folder.parent_path() / CHEXBENCH_MODULE_FOLDER / file}) {
    if (void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); module != nullptr) return module;
    reasons += std::string(reasons.empty() ? "" : "; ") + dlerror();
  }
  throw DeviceError(owner + ": its module cannot be loaded: " + reasons);
}

}  // namespace

void* module_symbol(const std::string& owner, const char* file, const char* symbol) {
  void* const found = dlsym(open_module(owner, file), symbol);
  if (found == nullptr) throw DeviceError(owner + ": its module is of another build: " + dlerror());
  return found;
}

}  // namespace chexbench

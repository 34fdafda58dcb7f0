// Loads the library that CUDA_INJECTION64_PATH names, like CUDA during initialization, and exits with the status in its
// argument.
#include <dlfcn.h>

#include <cstdlib>

int main(int, char** arguments) {
  void* const library = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 100;
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr || initialize() != 1) return 101;
  return std::atoi(arguments[1]);
}

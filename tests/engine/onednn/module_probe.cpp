// Makes the engine, with the module that is found relative to this program, and prints the result, for module_test.cpp.
#include <cstdio>
#include <cstdlib>

#include "core/errors.hpp"
#include "engine/onednn/onednn_engine.hpp"

int main() {
  using namespace chexbench;
  engine::EngineConfig config;
  config.model.image_size = 32;
  config.training.batch_size = 1;
  int code = 0;
  try {
    std::printf("made %s", engine::onednn::make_onednn_engine(config)->traits().name.c_str());
  } catch (const DeviceError& error) {
    std::printf("DeviceError: %s", error.what());
    code = 3;
  }
  for (const char* const name : {"OMP_WAIT_POLICY", "OMP_PROC_BIND", "OMP_PLACES"}) {
    const char* const value = std::getenv(name);
    std::printf(", %s=%s", name, value != nullptr ? value : "(unset)");
  }
  std::printf("\n");
  return code;
}

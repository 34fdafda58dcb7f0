#include "core/errors.hpp"
#include "measure/nvml.hpp"

namespace chexbench::measure {

std::unique_ptr<Nvml> open_nvml() {
  throw DeviceError(
      "NVML: this build was made without nvml.h, so it cannot query the driver about GPUs; run scripts/setup --cuda "
      "and build again");
}

bool has_nvml() { return false; }

}  // namespace chexbench::measure

// The queries that drivers have since version 535.
#include "measure/nvml_standin.hpp"

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t, unsigned long long* reasons) {
  return standin::write("reasons", reasons);
}

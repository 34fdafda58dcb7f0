// The queries that every driver of recent years has. GPU n is GPU-standin-n at 0000:n7:00.0, with 80 GiB.
#include <cstdio>
#include <string>

#include "measure/nvml_standin.hpp"

namespace {

nvmlReturn_t write_text(const std::string& text, char* place, unsigned bytes) {
  if (bytes <= text.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::snprintf(place, bytes, "%s", text.c_str());
  return NVML_SUCCESS;
}

std::string uuid(unsigned index) { return "GPU-standin-" + std::to_string(index); }

}  // namespace

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned bytes) {
  return write_text("580.65.06", version, bytes);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) { return standin::write("cuda", version); }

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* name, nvmlDevice_t* device) {
  for (unsigned index = 0; nvmlDeviceGetHandleByIndex_v2(index, device) == NVML_SUCCESS; ++index) {
    if (name == uuid(index)) return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  *index = standin::index_of(device);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t, char* name, unsigned bytes) {
  return write_text("Stand-in GPU", name, bytes);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* name, unsigned bytes) {
  return write_text(uuid(standin::index_of(device)), name, bytes);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  pci->domain = 0;
  pci->bus = standin::index_of(device) * 16 + 7;
  pci->device = 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t* memory) {
  memory->total = 80ull << 30;
  return standin::write("memory_used", &memory->used);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t, nvmlUtilization_t* utilization) {
  const nvmlReturn_t status = standin::write("utilization", &utilization->gpu);
  return status == NVML_SUCCESS ? standin::write("memory_utilization", &utilization->memory) : status;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t, nvmlClockType_t type, unsigned* mhz) {
  return standin::write(type == NVML_CLOCK_SM ? "sm_clock" : "memory_clock", mhz);
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned* milliwatts) { return standin::write("power", milliwatts); }

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned* celsius) {
  return standin::write("temperature", celsius);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t, unsigned long long* reasons) {
  return standin::write("reasons", reasons);
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t, nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter,
                                         unsigned long long* errors) {
  if (type != NVML_MEMORY_ERROR_TYPE_UNCORRECTED || counter != NVML_VOLATILE_ECC) return NVML_ERROR_INVALID_ARGUMENT;
  return standin::write("ecc", errors);
}

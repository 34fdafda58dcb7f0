// The functions of the driver's NVML library. Private to this folder; needs nvml.h.
#pragma once

#include <dlfcn.h>
#include <nvml.h>

#include <array>
#include <mutex>

#include "measure/nvml.hpp"

namespace chexbench::measure {

// A symbol's address, or null. It converts to the type of the function pointer that it is assigned to.
struct Symbol {
  void* address;
  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};

// The functions of the driver's library; null if this driver lacks one. A type is spelled out if a newer nvml.h marks
// the function as deprecated.
struct Functions {
  explicit Functions(void* opened) : library(opened) {}
  Symbol find(const char* symbol) const { return {dlsym(library, symbol)}; }
  Symbol find(const char* symbol, const char* older_symbol) const {
    const Symbol found = find(symbol);
    return found.address != nullptr ? found : find(older_symbol);
  }

  void* library;
  decltype(&nvmlInit_v2) init = find("nvmlInit_v2");
  decltype(&nvmlShutdown) shutdown = find("nvmlShutdown");
  decltype(&nvmlErrorString) error_string = find("nvmlErrorString");
  decltype(&nvmlSystemGetDriverVersion) driver_version = find("nvmlSystemGetDriverVersion");
  decltype(&nvmlSystemGetCudaDriverVersion_v2) cuda_version = find("nvmlSystemGetCudaDriverVersion_v2");
  decltype(&nvmlDeviceGetCount_v2) count = find("nvmlDeviceGetCount_v2");
  decltype(&nvmlDeviceGetHandleByIndex_v2) handle_by_index = find("nvmlDeviceGetHandleByIndex_v2");
  decltype(&nvmlDeviceGetHandleByUUID) handle_by_uuid = find("nvmlDeviceGetHandleByUUID");
  decltype(&nvmlDeviceGetHandleByPciBusId_v2) handle_by_pci_bus_id = find("nvmlDeviceGetHandleByPciBusId_v2");
  decltype(&nvmlDeviceGetIndex) index = find("nvmlDeviceGetIndex");
  decltype(&nvmlDeviceGetName) name = find("nvmlDeviceGetName");
  decltype(&nvmlDeviceGetUUID) uuid = find("nvmlDeviceGetUUID");
  decltype(&nvmlDeviceGetPciInfo_v3) pci_info = find("nvmlDeviceGetPciInfo_v3");
  decltype(&nvmlDeviceGetMemoryInfo) memory = find("nvmlDeviceGetMemoryInfo");
  decltype(&nvmlDeviceGetUtilizationRates) utilization = find("nvmlDeviceGetUtilizationRates");
  decltype(&nvmlDeviceGetClockInfo) clock = find("nvmlDeviceGetClockInfo");
  decltype(&nvmlDeviceGetPowerUsage) power = find("nvmlDeviceGetPowerUsage");
  nvmlReturn_t (*temperature)(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned*) = find("nvmlDeviceGetTemperature");
  nvmlReturn_t (*throttle_reasons)(nvmlDevice_t,
                                   unsigned long long*) = find("nvmlDeviceGetCurrentClocksEventReasons",
                                                               "nvmlDeviceGetCurrentClocksThrottleReasons");
  decltype(&nvmlDeviceGetTotalEccErrors) ecc_errors = find("nvmlDeviceGetTotalEccErrors");
  decltype(&nvmlDeviceGetTotalEnergyConsumption) energy = find("nvmlDeviceGetTotalEnergyConsumption");
  decltype(&nvmlGpmQueryDeviceSupport) gpm_support = find("nvmlGpmQueryDeviceSupport");
  decltype(&nvmlGpmSampleAlloc) gpm_alloc = find("nvmlGpmSampleAlloc");
  decltype(&nvmlGpmSampleFree) gpm_free = find("nvmlGpmSampleFree");
  decltype(&nvmlGpmSampleGet) gpm_sample = find("nvmlGpmSampleGet");
  decltype(&nvmlGpmMetricsGet) gpm_metrics = find("nvmlGpmMetricsGet");
};

// NVML's GPM metrics (GPU performance monitoring), available since Hopper: how much of the GPU works, while NVML's
// utilization only shows that something runs. Private to this folder; needs nvml.h.

// The metrics of one GPU between one call and the next. Thread-safe.
class Activity {
 public:
  // `functions` must outlive this object.
  Activity(const Functions& functions, nvmlDevice_t device);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  // Sets the activities since the last call; leaves them empty in the first call, and if the GPU or the driver has no
  // such metrics.
  void add_to(GpuSample& sample) const;

 private:
  bool is_supported() const;

  const Functions& functions_;
  const nvmlDevice_t device_;
  mutable std::mutex mutex_;                         // guards the members below
  mutable std::array<nvmlGpmSample_t, 2> states_{};  // of the hardware's counters: the last one and the one to be taken
  mutable bool has_last_ = false;
};

}  // namespace chexbench::measure

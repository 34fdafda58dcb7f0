// The queries that drivers have since version 535.
#include "measure/nvml_standin.hpp"

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t, unsigned long long* reasons) {
  return standin::write("reasons", reasons);
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t, unsigned long long* millijoules) {
  return standin::write("energy", millijoules);
}

// A sample is a number in memory; the result for two of them is in the script, in percent.
nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t, nvmlGpmSupport_t* support) {
  if (support->version != NVML_GPM_SUPPORT_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  return standin::write("gpm", &support->isSupportedDevice);
}

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* sample) {
  *sample = reinterpret_cast<nvmlGpmSample_t>(new int);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
  delete reinterpret_cast<int*>(sample);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t, nvmlGpmSample_t sample) {
  return standin::write("gpm_sample", reinterpret_cast<int*>(sample));
}

nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* asked) {
  if (asked->version != NVML_GPM_METRICS_GET_VERSION || asked->sample1 == asked->sample2)
    return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned i = 0; i < asked->numMetrics; ++i) {
    nvmlGpmMetric_t& metric = asked->metrics[i];
    const char* const key = metric.metricId == NVML_GPM_METRIC_SM_UTIL           ? "sm_activity"
                            : metric.metricId == NVML_GPM_METRIC_ANY_TENSOR_UTIL ? "tensor_activity"
                            : metric.metricId == NVML_GPM_METRIC_DRAM_BW_UTIL    ? "dram_activity"
                                                                                 : nullptr;
    metric.nvmlReturn = key != nullptr ? standin::write(key, &metric.value) : NVML_ERROR_INVALID_ARGUMENT;
  }
  return NVML_SUCCESS;
}

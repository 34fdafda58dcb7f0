#include "measure/nvml_functions.hpp"

#include <utility>

namespace chexbench::measure {
namespace {

constexpr std::array<unsigned, 3> kMetrics{NVML_GPM_METRIC_SM_UTIL, NVML_GPM_METRIC_ANY_TENSOR_UTIL,
                                           NVML_GPM_METRIC_DRAM_BW_UTIL};

std::optional<double> share(const nvmlGpmMetric_t& metric) {
  return metric.nvmlReturn == NVML_SUCCESS ? std::optional(metric.value / 100) : std::nullopt;
}

}  // namespace

Activity::Activity(const Functions& functions, nvmlDevice_t device) : functions_(functions), device_(device) {
  if (!is_supported()) return;
  for (nvmlGpmSample_t& state : states_) {
    if (functions_.gpm_alloc(&state) != NVML_SUCCESS) state = nullptr;
  }
}

Activity::~Activity() {
  for (const nvmlGpmSample_t state : states_) {
    if (state != nullptr) functions_.gpm_free(state);
  }
}

bool Activity::is_supported() const {
  if (functions_.gpm_support == nullptr || functions_.gpm_alloc == nullptr || functions_.gpm_free == nullptr ||
      functions_.gpm_sample == nullptr || functions_.gpm_metrics == nullptr)
    return false;
  nvmlGpmSupport_t support{};
  support.version = NVML_GPM_SUPPORT_VERSION;
  return functions_.gpm_support(device_, &support) == NVML_SUCCESS && support.isSupportedDevice != 0;
}

void Activity::add_to(GpuSample& sample) const {
  const std::lock_guard lock(mutex_);
  if (states_[0] == nullptr || states_[1] == nullptr) return;
  if (functions_.gpm_sample(device_, states_[1]) != NVML_SUCCESS) return;
  nvmlGpmMetricsGet_t asked{};
  asked.version = NVML_GPM_METRICS_GET_VERSION;
  asked.numMetrics = static_cast<unsigned>(kMetrics.size());
  asked.sample1 = states_[0];
  asked.sample2 = states_[1];
  for (std::size_t i = 0; i < kMetrics.size(); ++i) asked.metrics[i].metricId = kMetrics[i];
  if (has_last_ && functions_.gpm_metrics(&asked) == NVML_SUCCESS) {
    sample.sm_activity = share(asked.metrics[0]);
    sample.tensor_activity = share(asked.metrics[1]);
    sample.dram_activity = share(asked.metrics[2]);
  }
  std::swap(states_[0], states_[1]);
  has_last_ = true;
}

}  // namespace chexbench::measure

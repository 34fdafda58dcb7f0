// Units and meanings are those of nvml.h (nvidia-nvml-dev 13.0) and the NVML API Reference Guide.
#include "measure/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nvml.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"

namespace chexbench::measure {
namespace {

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

// NVML's GPM metrics (GPU performance monitoring) of one GPU between one call and the next, available since Hopper: how
// much of the GPU works, while NVML's utilization only shows that something runs. Thread-safe.
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

constexpr std::array<unsigned, 3> kMetrics{NVML_GPM_METRIC_SM_UTIL, NVML_GPM_METRIC_ANY_TENSOR_UTIL,
                                           NVML_GPM_METRIC_DRAM_BW_UTIL};

std::optional<double> share(const nvmlGpmMetric_t& metric) {
  return metric.nvmlReturn == NVML_SUCCESS ? std::optional(metric.value / 100) : std::nullopt;
}

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

// Returns the remedy for a status, if NVML's description does not give it.
const char* remedy(nvmlReturn_t status) {
  switch (status) {
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "; load the driver's kernel module, or give the container access to the GPUs";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
      return "; the driver was updated under a kernel module that is still the old one: reload it, or reboot";
    case NVML_ERROR_NO_PERMISSION:
      return "; this user may not open /dev/nvidia*";
    case NVML_ERROR_GPU_IS_LOST:
    case NVML_ERROR_RESET_REQUIRED:
      return "; the kernel log names the Xid error: reset the GPU, or reboot";
    default:
      return "";
  }
}

// Returns whether the GPU will never answer again. Any other status concerns only the requested figure.
bool is_final(nvmlReturn_t status) {
  return status == NVML_ERROR_GPU_IS_LOST || status == NVML_ERROR_RESET_REQUIRED ||
         status == NVML_ERROR_UNINITIALIZED || status == NVML_ERROR_DRIVER_NOT_LOADED ||
         status == NVML_ERROR_LIB_RM_VERSION_MISMATCH;
}

void* open_driver(const char* file) {
  // The library is never closed, because NVIDIA does not document that this is safe.
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw DeviceError(fmt::format("NVML: the driver's library cannot be opened: {}", dlerror()));
  return library;
}

// The library, initialized during the lifetime of this object.
class Library {
 public:
  // @throws DeviceError
  explicit Library(const char* file) : functions_(open_driver(file)) {
    if (functions_.init == nullptr || functions_.shutdown == nullptr || functions_.count == nullptr ||
        functions_.handle_by_index == nullptr) {
      throw DeviceError(
          fmt::format("NVML: {} lacks nvmlInit_v2 or its companions: it is not NVML, or it is too old", file));
    }
    check(functions_.init(), "NVML");
  }
  ~Library() { functions_.shutdown(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Functions& functions() const { return functions_; }

  // @throws DeviceError that begins with `what` if the status is not success
  void check(nvmlReturn_t status, const std::string& what) const {
    if (status == NVML_SUCCESS) return;
    const char* const words = functions_.error_string != nullptr ? functions_.error_string(status) : "error";
    throw DeviceError(fmt::format("{}: {} (NVML status {}){}", what, words, static_cast<int>(status), remedy(status)));
  }

 private:
  Functions functions_;
};

// The constants use their old names, which exist in every nvml.h.
constexpr std::array<std::pair<unsigned long long, std::string_view>, 9> kThrottleWords{{
    {nvmlClocksThrottleReasonGpuIdle, "gpu_idle"},
    {nvmlClocksThrottleReasonApplicationsClocksSetting, "applications_clocks_setting"},
    {nvmlClocksThrottleReasonSwPowerCap, "sw_power_cap"},
    {nvmlClocksThrottleReasonHwSlowdown, "hw_slowdown"},
    {nvmlClocksThrottleReasonSyncBoost, "sync_boost"},
    {nvmlClocksThrottleReasonSwThermalSlowdown, "sw_thermal_slowdown"},
    {nvmlClocksThrottleReasonHwThermalSlowdown, "hw_thermal_slowdown"},
    {nvmlClocksThrottleReasonHwPowerBrakeSlowdown, "hw_power_brake_slowdown"},
    {nvmlClocksThrottleReasonDisplayClockSetting, "display_clock_setting"},
}};

std::vector<std::string> throttle_words(unsigned long long reasons) {
  std::vector<std::string> words;
  for (const auto& [bit, word] : kThrottleWords) {
    if ((reasons & bit) != 0) words.emplace_back(word);
    reasons &= ~bit;
  }
  if (reasons != 0) words.emplace_back("unknown");  // a reason that only newer drivers know
  return words;
}

class NvmlGpu final : public Gpu {
 public:
  NvmlGpu(std::shared_ptr<const Library> library, nvmlDevice_t device)
      : library_(std::move(library)),
        functions_(library_->functions()),
        device_(device),
        activity_(functions_, device) {
    identify();
  }

  const GpuInfo& info() const override { return info_; }

  GpuSample sample() const override {
    GpuSample sample{.time_s = now_s()};
    if (const auto percent = ask<nvmlUtilization_t>(functions_.utilization)) {
      sample.utilization = percent->gpu / 100.0;
      sample.memory_utilization = percent->memory / 100.0;
    }
    if (const auto memory = ask<nvmlMemory_t>(functions_.memory)) sample.memory_used_bytes = memory->used;
    if (const auto mhz = ask<unsigned>(functions_.clock, NVML_CLOCK_SM)) sample.sm_clock_hz = *mhz * 1e6;
    if (const auto mhz = ask<unsigned>(functions_.clock, NVML_CLOCK_MEM)) sample.memory_clock_hz = *mhz * 1e6;
    if (const auto milliwatts = ask<unsigned>(functions_.power)) sample.power_w = *milliwatts / 1e3;
    sample.temperature_c = ask<unsigned>(functions_.temperature, NVML_TEMPERATURE_GPU);
    if (const auto reasons = ask<unsigned long long>(functions_.throttle_reasons)) {
      sample.throttle_reasons = throttle_words(*reasons);
    }
    sample.uncorrected_ecc_errors =
        ask<unsigned long long>(functions_.ecc_errors, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC);
    if (const auto millijoules = ask<unsigned long long>(functions_.energy))
      sample.energy_j = static_cast<double>(*millijoules) / 1e3;
    activity_.add_to(sample);
    return sample;
  }

 private:
  // Calls `function` and returns the value that it writes through its last parameter. Returns std::nullopt if the
  // driver lacks the function or the GPU does not report the value.
  // @throws DeviceError if the GPU is gone
  template <class Value, class Function, class... Arguments>
  std::optional<Value> ask(Function* function, Arguments... arguments) const {
    if (function == nullptr) return std::nullopt;
    Value value{};
    const nvmlReturn_t status = function(device_, arguments..., &value);
    if (status == NVML_SUCCESS) return value;
    if (is_final(status)) library_->check(status, fmt::format("GPU {} {}", info_.index, info_.uuid));
    return std::nullopt;
  }

  template <class Function>
  std::string ask_text(Function* function) const {
    std::array<char, 96> text{};  // large enough for every name and UUID: NVML_DEVICE_NAME_V2_BUFFER_SIZE
    const auto bytes = static_cast<unsigned>(text.size());
    if (function == nullptr || function(device_, text.data(), bytes) != NVML_SUCCESS) return {};
    return text.data();
  }

  void identify() {
    info_.index = ask<unsigned>(functions_.index).value_or(0);
    info_.uuid = ask_text(functions_.uuid);
    info_.name = ask_text(functions_.name);
    if (const auto pci = ask<nvmlPciInfo_t>(functions_.pci_info)) {
      info_.pci_bus_id = fmt::format("{:04x}:{:02x}:{:02x}.0", pci->domain, pci->bus, pci->device);
    }
    if (const auto memory = ask<nvmlMemory_t>(functions_.memory)) info_.memory_bytes = memory->total;
  }

  std::shared_ptr<const Library> library_;
  const Functions& functions_;
  nvmlDevice_t device_;
  Activity activity_;
  GpuInfo info_;
};

class DriverNvml final : public Nvml {
 public:
  explicit DriverNvml(const char* file)
      : library_(std::make_shared<const Library>(file)), functions_(library_->functions()) {}

  std::string driver_version() const override {
    std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> text{};
    const auto bytes = static_cast<unsigned>(text.size());
    const auto function = functions_.driver_version;
    return function != nullptr && function(text.data(), bytes) == NVML_SUCCESS ? text.data() : "";
  }

  std::optional<int> cuda_version() const override {
    int version = 0;
    const auto function = functions_.cuda_version;
    return function != nullptr && function(&version) == NVML_SUCCESS ? std::optional(version) : std::nullopt;
  }

  unsigned count() const override {
    unsigned count = 0;
    library_->check(functions_.count(&count), "NVML cannot count the GPUs");
    return count;
  }

  std::unique_ptr<Gpu> gpu(unsigned index) const override {
    return find(functions_.handle_by_index, index, std::to_string(index));
  }
  std::unique_ptr<Gpu> gpu_by_uuid(const std::string& uuid) const override {
    return find(functions_.handle_by_uuid, uuid.c_str(), uuid);
  }

 private:
  template <class Function, class Key>
  std::unique_ptr<Gpu> find(Function* function, Key key, const std::string& name) const {
    nvmlDevice_t device{};
    library_->check(function != nullptr ? function(key, &device) : NVML_ERROR_FUNCTION_NOT_FOUND, "GPU " + name);
    return std::make_unique<NvmlGpu>(library_, device);
  }

  std::shared_ptr<const Library> library_;
  const Functions& functions_;
};

}  // namespace

std::unique_ptr<Nvml> open_nvml() {
  const char* const file = std::getenv("CHEXBENCH_NVML_LIBRARY");
  return std::make_unique<DriverNvml>(file != nullptr ? file : "libnvidia-ml.so.1");
}

bool has_nvml() { return true; }

}  // namespace chexbench::measure

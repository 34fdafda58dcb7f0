// What the driver tells of NVIDIA's GPUs, through NVML (libnvidia-ml), which is opened at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace chexbench::measure {

// One GPU. Texts are empty, and memory_bytes 0, where the driver does not tell.
struct GpuInfo {
  unsigned index = 0;              // NVML's: CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER do not change it
  std::string name;                // "NVIDIA H100 80GB HBM3"
  std::string uuid;                // "GPU-..." : the same for CUDA
  std::string pci_bus_id;          // "0000:17:00.0", as /sys/bus/pci and cudaDeviceGetPCIBusId write it
  std::uint64_t memory_bytes = 0;  // of the device, all of it
};

// What one look at a GPU saw. A figure is empty where this driver or this GPU does not tell it.
struct GpuSample {
  double time_s = 0;                         // now_s() of core/clock.hpp, just before the look
  std::optional<double> utilization;         // 0..1: share of NVML's last period (1/6 s to 1 s) with a kernel running
  std::optional<double> memory_utilization;  // 0..1: share of that period with device memory being read or written
  std::optional<std::uint64_t> memory_used_bytes;  // by all processes
  std::optional<double> sm_clock_hz;
  std::optional<double> memory_clock_hz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  // Why the clocks are not at their highest, in nvidia-smi's words: "sw_power_cap", "hw_thermal_slowdown"; "gpu_idle"
  // only means that nothing runs.
  std::optional<std::vector<std::string>> throttle_reasons;
  std::optional<std::uint64_t> uncorrected_ecc_errors;  // since the driver was loaded

  bool operator==(const GpuSample&) const = default;
};

// One GPU of an open NVML. Thread-safe; may outlive the Nvml that it came from.
class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual const GpuInfo& info() const = 0;
  // A handful of calls into the driver, no work on the device.
  // @throws DeviceError where the GPU can no longer be asked: it fell off the bus, or needs a reset
  virtual GpuSample sample() const = 0;
};

// The driver's library, open. Thread-safe.
class Nvml {
 public:
  virtual ~Nvml() = default;
  virtual std::string driver_version() const = 0;       // "580.65.06", empty where the driver does not tell
  virtual std::optional<int> cuda_version() const = 0;  // newest CUDA that the driver serves: 13000 is 13.0
  virtual unsigned count() const = 0;                   // @throws DeviceError
  // @throws DeviceError where there is no such GPU, or it cannot be asked
  virtual std::unique_ptr<Gpu> gpu(unsigned index) const = 0;
  // An engine names its device by one of these: CUDA's numbers are not NVML's. @throws DeviceError as above
  virtual std::unique_ptr<Gpu> gpu_by_uuid(const std::string& uuid) const = 0;
  virtual std::unique_ptr<Gpu> gpu_by_pci_bus_id(const std::string& pci_bus_id) const = 0;
};

// Opens libnvidia-ml.so.1, or the library that the environment's CHEXBENCH_NVML_LIBRARY names. A function that an old
// driver lacks costs its figure alone.
// @throws DeviceError where there is no driver, it does not answer, or this build has no NVML; says how to mend it
std::unique_ptr<Nvml> open_nvml();

// Whether this build has NVML.
bool has_nvml();

}  // namespace chexbench::measure

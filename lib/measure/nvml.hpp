// Queries NVIDIA GPUs through the driver's NVML library (libnvidia-ml), which is opened at run time. So one binary
// serves machines with and without a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace chexbench::measure {

// Identifies one GPU. Texts are empty, and memory_bytes is 0, if the driver does not report them.
struct GpuInfo {
  unsigned index = 0;              // NVML's number: CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER do not change it
  std::string name;                // "NVIDIA H100 80GB HBM3"
  std::string uuid;                // "GPU-...", the same in CUDA
  std::string pci_bus_id;          // "0000:17:00.0", as in /sys/bus/pci and cudaDeviceGetPCIBusId
  std::uint64_t memory_bytes = 0;  // total device memory
};

// One sample of a GPU. A figure is std::nullopt if this driver or this GPU does not report it.
struct GpuSample {
  double time_s = 0;                         // now_s() of core/clock.hpp, just before the queries
  std::optional<double> utilization;         // 0..1: share of NVML's last period (1/6 s to 1 s) with a kernel running
  std::optional<double> memory_utilization;  // 0..1: share of that period with device memory being read or written
  std::optional<std::uint64_t> memory_used_bytes;  // by all processes
  std::optional<double> sm_clock_hz;
  std::optional<double> memory_clock_hz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  // Why the clocks are below their maximum, in nvidia-smi's words, such as "sw_power_cap" or "hw_thermal_slowdown".
  // "gpu_idle" only means that nothing runs.
  std::optional<std::vector<std::string>> throttle_reasons;
  std::optional<std::uint64_t> uncorrected_ecc_errors;  // since the driver was loaded
  std::optional<double> energy_j;                       // since the driver was loaded
  // GPM metrics since the sample before, 0..1: multiprocessors that were busy, time in which tensor cores were, and
  // the device memory's bandwidth that was used. Since Hopper.
  std::optional<double> sm_activity;
  std::optional<double> tensor_activity;
  std::optional<double> dram_activity;

  bool operator==(const GpuSample&) const = default;
};

// One GPU of an open NVML. Thread-safe. It may outlive the Nvml object that it came from.
class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual const GpuInfo& info() const = 0;
  // Makes a handful of driver calls and starts no work on the device.
  // @throws DeviceError if the GPU can no longer be queried: it fell off the bus, or needs a reset
  virtual GpuSample sample() const = 0;
};

// The driver's open library. Thread-safe.
class Nvml {
 public:
  virtual ~Nvml() = default;
  virtual std::string driver_version() const = 0;       // "580.65.06"; empty if the driver does not report it
  virtual std::optional<int> cuda_version() const = 0;  // newest CUDA that the driver supports: 13000 is 13.0
  virtual unsigned count() const = 0;                   // @throws DeviceError
  // @throws DeviceError if there is no such GPU, or if it cannot be queried
  virtual std::unique_ptr<Gpu> gpu(unsigned index) const = 0;
  // Engines identify their device by UUID, because CUDA numbers GPUs differently from NVML.
  // @throws DeviceError as gpu() does
  virtual std::unique_ptr<Gpu> gpu_by_uuid(const std::string& uuid) const = 0;
};

// Opens libnvidia-ml.so.1, or the library that the environment variable CHEXBENCH_NVML_LIBRARY names. If an old
// driver lacks a function, only the figure that needs it is missing.
// @throws DeviceError if there is no driver, if it does not answer, or if this build has no NVML; the message names
// the remedy
std::unique_ptr<Nvml> open_nvml();

// Returns whether this build has NVML. If not, open_nvml() always throws.
bool has_nvml();

}  // namespace chexbench::measure

// Which GPUs of NVIDIA this machine has, and whether their driver answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/nvml.hpp"

namespace chexbench::measure {

struct GpuSurvey {
  std::vector<std::string> pci_bus_ids;  // of NVIDIA's display and compute devices, driver or not: "0000:17:00.0"
  bool build_has_nvml = true;
  bool nvml_answers = false;
  std::string nvml_problem;               // why NVML does not answer
  std::string driver_version;             // "580.65.06", by NVML
  std::optional<int> cuda_version;        // newest CUDA that the driver serves, by NVML: 13000 is 13.0
  std::vector<GpuInfo> gpus;              // by NVML
  std::vector<std::string> gpu_problems;  // of GPUs that NVML counts and that do not answer, a sentence each

  bool has_gpu() const { return !pci_bus_ids.empty() || !gpus.empty() || !gpu_problems.empty(); }
};

// CUDA's packed number in words: 13000 is "13.0".
std::string cuda_version_text(int version);

// Never throws for want of a driver or a GPU. A first call may take a second: an idle driver wakes up its GPUs.
GpuSurvey survey_gpus();

// The PCI addresses of NVIDIA's GPUs, sorted, from a folder laid out like /sys/bus/pci/devices; none where there is no
// such folder.
std::vector<std::string> pci_gpus(const std::string& folder = "/sys/bus/pci/devices");

}  // namespace chexbench::measure

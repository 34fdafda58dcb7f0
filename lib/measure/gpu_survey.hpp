// Finds out which NVIDIA GPUs this machine has and whether their driver answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/nvml.hpp"

namespace chexbench::measure {

// The PCI bus shows GPUs even without a driver; everything else comes from NVML.
struct GpuSurvey {
  std::vector<std::string> pci_bus_ids;  // NVIDIA's display and compute devices: "0000:17:00.0"
  bool build_has_nvml = true;
  bool nvml_answers = false;
  std::string nvml_problem;               // why NVML does not answer; otherwise empty
  std::string driver_version;             // "580.65.06"
  std::optional<int> cuda_version;        // newest CUDA that the driver supports: 13000 is 13.0
  std::vector<GpuInfo> gpus;              // the GPUs that answered
  std::vector<std::string> gpu_problems;  // one sentence per GPU that NVML counts but cannot query

  bool has_gpu() const { return !pci_bus_ids.empty() || !gpus.empty() || !gpu_problems.empty(); }
};

// Formats CUDA's packed version number: 13000 becomes "13.0".
std::string cuda_version_text(int version);

// Never throws because a driver or a GPU is missing: the result records it. The first call may take a second, because
// an idle driver has to wake up its GPUs.
GpuSurvey survey_gpus();

// Returns the sorted PCI addresses of NVIDIA's GPUs. `folder` has the layout of /sys/bus/pci/devices; the result is
// empty if there is no such folder.
std::vector<std::string> pci_gpus(const std::string& folder = "/sys/bus/pci/devices");

}  // namespace chexbench::measure

// Finds out which NVIDIA GPUs this machine has, whether their driver answers, which libraries for training are there,
// and which of them do not work together.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// A library and its version. This needs none of NVIDIA's headers at build time.
struct GpuLibrary {
  std::string name;  // "CUDA driver", "CUDA runtime", "cuBLASLt", "cuDNN", "NCCL"
  std::string file;  // "libcudnn.so.9"; for a missing library: all names that were tried
  bool found = false;
  std::string version;  // "9.19.0"; for the CUDA driver: the newest CUDA that it supports
  int major = 0;        // major number of the version; 0 if there is no version
  std::string path;     // where it was loaded from
  std::string reason;   // why it was not found, or why it has no version
};

// Tries to load each library in every known major version, from where modules find it (core/module.hpp), and keeps it
// loaded. Call it from a command that only inspects the machine, not from a process that measures. Returns one entry
// per library file that was found, and one entry per kind of library that was not found. Takes 0.1 s if the files are
// in the page cache.
std::vector<GpuLibrary> find_gpu_libraries();

// Returns the version of the library `name` ("cuDNN") that this process has loaded; std::nullopt if it has not loaded
// one, or if that reports no version. Loads nothing.
std::optional<std::string> loaded_version(std::string_view name);

// Returns one sentence per problem, each with its remedy: a GPU without a driver or one that does not answer, a driver
// that is too old for every CUDA runtime found, and cuDNN or NCCL in another major version than the required cuDNN 9
// and NCCL 2. A library that is merely missing is not a problem here. Pure.
std::vector<std::string> misfits(const GpuSurvey& survey, std::span<const GpuLibrary> libraries);

// The version of a library, for reports.
struct LibraryVersion {
  std::string name;                    // "oneDNN", "cuDNN"
  std::optional<std::string> version;  // "9.19.0"; empty if the process has not loaded it, or if it reports none
};

}  // namespace chexbench::measure

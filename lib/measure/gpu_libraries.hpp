// Finds the libraries needed for training on NVIDIA GPUs, with their versions, and reports combinations that do not
// work.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/gpu_survey.hpp"

namespace chexbench::measure {

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

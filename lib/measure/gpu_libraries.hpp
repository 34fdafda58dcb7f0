// The libraries that training on NVIDIA's GPUs rests on: which are here, of which version, and what does not fit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/gpu_survey.hpp"

namespace chexbench::measure {

// A library, asked for its version without any of NVIDIA's headers.
struct GpuLibrary {
  std::string name;  // "CUDA driver", "CUDA runtime", "cuBLASLt", "cuDNN", "NCCL"
  std::string file;  // "libcudnn.so.9"; of a library that is missing: all that were tried
  bool found = false;
  std::string version;  // "9.19.0"; of the CUDA driver: the newest CUDA that it serves
  int major = 0;        // of the version; 0 where there is none
  std::string path;     // that it was loaded from
  std::string reason;   // why it was not found, or why it has no version
};

// Loads each of them, in every major version that is known, by the loader's search path, and keeps them loaded: for a
// verb of its own, not for a process that measures. One entry for each that was found, one for each kind of which none
// was. 0.1 s where files are in the page cache.
std::vector<GpuLibrary> find_gpu_libraries();

// What does not go together, a sentence each that says what would: a GPU without a driver or one that does not answer,
// a driver too old for every CUDA runtime found, no cuDNN 9 or NCCL 2 where another major version was found. A library
// that is merely missing is no misfit. Pure.
std::vector<std::string> misfits(const GpuSurvey& survey, std::span<const GpuLibrary> libraries);

}  // namespace chexbench::measure

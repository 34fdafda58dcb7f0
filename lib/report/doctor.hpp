// What `chexbench doctor` tells: the machine, this build, GPUs, the libraries that they need, and what does not fit.
#pragma once

#include <string>
#include <vector>

#include "measure/gpu_libraries.hpp"
#include "measure/gpu_survey.hpp"
#include "measure/machine.hpp"

namespace chexbench::report {

// An optional package that chexbench may be built with.
struct BuildPackage {
  std::string name;
  bool present = false;
};

struct Doctor {
  std::string chexbench_version;
  measure::Machine machine;
  std::vector<BuildPackage> packages;
  measure::GpuSurvey survey;
  std::vector<measure::GpuLibrary> libraries;
  std::vector<std::string> misfits;  // sentences
};

// For people: plain text, columns aligned.
std::string doctor_table(const Doctor& doctor);

// For programs: one object, units in its keys. A text that is not known is "", the driver's CUDA version then too.
std::string doctor_json(const Doctor& doctor);

}  // namespace chexbench::report

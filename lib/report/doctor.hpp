// What `chexbench doctor` tells: the machine, this build, GPUs and their libraries, what does not fit, and what spoils
// measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/gpu_libraries.hpp"
#include "measure/gpu_survey.hpp"
#include "measure/machine.hpp"
#include "measure/surroundings.hpp"

namespace chexbench::report {

// An optional package that chexbench may be built with.
struct BuildPackage {
  std::string name;
  bool present = false;
};

// What a distant store answered.
struct StoreProbe {
  std::string root;
  std::string kind;            // http, https, s3, nfs
  double first_request_s = 0;  // a listing of the root, connecting included
  double next_request_s = 0;   // the same again, over the connection that is open
  std::string file;            // that was read from its beginning, in ranges
  std::uint64_t read_bytes = 0;
  double read_s = 0;
};

struct Doctor {
  std::string chexbench_version;
  measure::Machine machine;
  std::vector<BuildPackage> packages;
  measure::GpuSurvey survey;
  std::vector<measure::GpuLibrary> libraries;
  std::vector<std::string> misfits;  // of GPUs and their libraries: sentences
  measure::Surroundings surroundings;
  std::optional<StoreProbe> store;    // where the data that were asked for lie on a server
  std::vector<std::string> warnings;  // of what spoils measurements: sentences
};

// For people: plain text, columns aligned.
std::string doctor_table(const Doctor& doctor);

// For programs: one object, units in its keys. A text that is not known is "", the driver's CUDA version then too; a
// limit that is not set, a load that is not known and data that were not asked for are null.
std::string doctor_json(const Doctor& doctor);

}  // namespace chexbench::report

// Examines this machine and this build, for `chexbench doctor`: the GPUs and their libraries, mismatches, and anything
// that would disturb measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "measure/gpu_survey.hpp"
#include "measure/machine.hpp"
#include "measure/surroundings.hpp"
#include "measure/system_files.hpp"
#include "report/text_table.hpp"

namespace chexbench::verbs {

// An optional package that chexbench can be built with.
struct BuildPackage {
  std::string name;
  bool present = false;
};

// How a store on a server answered a probe.
struct StoreProbe {
  std::string root;
  std::string kind;            // http, https, s3, nfs
  double first_request_s = 0;  // to list the root, including the time to connect
  double next_request_s = 0;   // to list it again over the open connection
  std::string file;            // the file that was read from its beginning, in ranges
  std::uint64_t read_bytes = 0;
  double read_s = 0;
};

// All results of `chexbench doctor`.
struct Doctor {
  measure::Machine machine;
  std::string preprocessing_instruction_set;  // baseline, avx2 or avx512
  std::string training_instruction_sets;      // EngineKind::instruction_sets of engine onednn; empty if it is missing
  std::vector<BuildPackage> packages;
  measure::GpuSurvey survey;
  std::vector<measure::GpuLibrary> libraries;
  std::vector<std::string> misfits;  // sentences about GPUs and libraries that do not fit together
  measure::Surroundings surroundings;
  std::optional<StoreProbe> store;    // set if the requested data are on a server
  std::vector<std::string> warnings;  // sentences about what would disturb measurements
};

// What to examine in addition to the machine.
struct DoctorRequest {
  std::string data_root;       // a folder or a URL with data; empty: none
  measure::SystemRoots roots;  // where the kernel describes CPUs, memory and mounts; tests replace them
};

// Returns the result on rank 0, and an empty one on the other ranks. Collective over the world. Loads this machine's
// GPU libraries and keeps them loaded, so a measuring process should not call it.
// @throws DataError if `data_root` is not a folder, or a store that does not answer or contains no data set
// @throws DeviceError if a rank was lost
Doctor examine(const DoctorRequest& request, comm::World& world);

// Returns whether this machine has a GPU and something does not fit together. Without a GPU, misfits are harmless.
bool needs_mending(const Doctor& doctor);

// Returns plain text for people. Its tables are at most `width` wide where possible; a `brief` one lacks the limits,
// memory, cores of ranks and libraries.
std::string doctor_table(const Doctor& doctor, const report::LineWidth& width = {}, bool brief = false);

// Returns one JSON object for programs, with units in its keys. An unknown text is "", and so is the driver's CUDA
// version if it is unknown; a limit that is not set, an unknown load and data that were not requested are null.
std::string doctor_json(const Doctor& doctor);

}  // namespace chexbench::verbs

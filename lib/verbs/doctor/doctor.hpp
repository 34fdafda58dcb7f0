// Examines this machine and this build, for `chexbench doctor`.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "measure/surroundings.hpp"
#include "measure/system_files.hpp"
#include "verbs/doctor/doctor_result.hpp"

namespace chexbench::verbs {

// What to examine in addition to the machine.
struct DoctorRequest {
  std::string data_root;       // a folder or a URL with data; empty: none
  measure::SystemRoots roots;  // where the kernel describes CPUs, memory and mounts; tests replace them
};

// Returns the result on rank 0, complete except for chexbench_version, and an empty one on the other ranks. Collective
// over the world. Loads this machine's GPU libraries and keeps them loaded, so a measuring process should not call it.
// @throws DataError if `data_root` is not a folder, or a store that does not answer or contains no data set
// @throws DeviceError if a rank was lost
Doctor examine(const DoctorRequest& request, comm::World& world);

// Returns whether this machine has a GPU and something does not fit together. Without a GPU, misfits are harmless.
bool needs_mending(const Doctor& doctor);

// The part of doctor's text about the surroundings of a measurement: CPU settings, limits, memory, threads and data.

// Returns one line per topic, without unknown topics.
std::string surroundings_text(const measure::Surroundings& surroundings);

}  // namespace chexbench::verbs

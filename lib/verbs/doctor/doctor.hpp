// Examines this machine and this build, for `chexbench doctor`.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "measure/surroundings.hpp"
#include "measure/system_files.hpp"
#include "verbs/doctor/doctor_result.hpp"

namespace chexbench::verbs {

// What to examine besides the machine.
struct DoctorRequest {
  std::string data_root;       // a folder or a URL with data; empty: none
  measure::SystemRoots roots;  // where the kernel reports CPUs, memory and mounts; tests replace them
};

// Returns what it found on rank 0, with everything except chexbench_version filled, and an empty result on the other
// ranks. Collective over the world. Loads the libraries of GPUs that this machine has and keeps them loaded, so a
// process that measures should not call it.
// @throws DataError if `data_root` is not a folder, or a store that does not answer or contains no data set
// @throws DeviceError if a rank was lost
Doctor examine(const DoctorRequest& request, comm::World& world);

// Returns whether this machine has a GPU and something does not fit together. Without a GPU, misfits do no harm.
bool needs_mending(const Doctor& doctor);

// The part of doctor's text about what surrounds a measurement: CPU settings, limits, memory, threads and data.

// Returns one line per topic, and leaves out topics about which nothing is known.
std::string surroundings_text(const measure::Surroundings& surroundings);

}  // namespace chexbench::verbs

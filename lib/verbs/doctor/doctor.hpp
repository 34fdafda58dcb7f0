// Looks at this machine and this build, for `chexbench doctor`.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "measure/system_files.hpp"
#include "verbs/doctor/doctor_result.hpp"

namespace chexbench::verbs {

struct DoctorRequest {
  std::string data_root;       // a folder, or an URL, to look at too; empty: none
  measure::SystemRoots roots;  // where the kernel tells of CPUs, memory and mounts
};

// All but chexbench_version; on rank 0 alone, an empty one on the others. Collective over the world. Loads the
// libraries of GPUs that are here, and keeps them loaded: for a verb of its own.
// @throws DataError where `data_root` is no folder, or a store that does not answer
Doctor examine(const DoctorRequest& request, comm::World& world);

// Whether a GPU is here that something does not fit: without one, nobody has to mend the rest.
bool needs_mending(const Doctor& doctor);

}  // namespace chexbench::verbs

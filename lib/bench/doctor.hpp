// Looks at this machine and this build, for `chexbench doctor`.
#pragma once

#include "report/doctor.hpp"

namespace chexbench::bench {

// All but chexbench_version. Loads the libraries of GPUs that are here, and keeps them loaded: for a verb of its own.
report::Doctor examine();

// Whether a GPU is here that something does not fit: without one, nobody has to mend the rest.
bool needs_mending(const report::Doctor& doctor);

}  // namespace chexbench::bench

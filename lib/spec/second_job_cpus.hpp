// The list of CPUs in second_job.cores.
#pragma once

#include <string>
#include <vector>

namespace chexbench::spec {

// Returns the CPUs of "cpus:0-3,8", the format of taskset and cgroups; none for "shared" and "apart".
// @throws SpecError if the list is malformed
std::vector<int> second_job_cpus(const std::string& cores);

}  // namespace chexbench::spec

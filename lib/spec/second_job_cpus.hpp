// The list of CPUs in second_job.cores.
#pragma once

#include <string>
#include <vector>

namespace chexbench::spec {

// Returns the CPUs of "cpus:0-3,8", in the form of taskset and cgroups; none of "shared" and "apart".
// @throws SpecError if the list is none
std::vector<int> second_job_cpus(const std::string& cores);

}  // namespace chexbench::spec

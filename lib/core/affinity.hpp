// Finds the cores that this rank may use and binds its threads to them.
#pragma once

#include <string>
#include <vector>

namespace chexbench {

// Returns one CPU of each physical core that this process may run on (its affinity mask, which a cgroup's cpuset
// restricts), so that two ranks never share a core through its hyperthreads. They are ordered by socket, then by
// number. A CPU whose core cannot be found in `cpu_folder`, where the kernel describes them, counts as a core. Never
// empty: the fallback is CPU 0. Thread-safe.
std::vector<int> usable_cores(const std::string& cpu_folder = "/sys/devices/system/cpu");

// Returns all CPU numbers of that mask, ascending, including hyperthreads. Thread-safe.
std::vector<int> usable_cpus();

// Binds the calling thread, and the threads that it starts afterwards, to `cpus`. Does nothing if `cpus` is empty. If
// the system refuses, it logs a warning and returns. Thread-safe.
void bind_this_thread(const std::vector<int>& cpus);

// Names the calling thread for ps, top and traces. Linux keeps at most 15 characters, so longer names are cut.
void name_this_thread(const std::string& name);

}  // namespace chexbench

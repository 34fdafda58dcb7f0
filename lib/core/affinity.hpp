// Which cores this rank may use, and binding its threads to them.
#pragma once

#include <string>
#include <vector>

namespace chexbench {

// The CPUs this process may run on (its affinity mask and cgroup), one per physical core where hwloc can tell,
// in topology order. Never empty.
std::vector<int> usable_cores();

// Binds the calling thread, and threads it starts from now on, to `cpus`. Empty: does nothing.
// Logs a warning and goes on where the system refuses.
void bind_this_thread(const std::vector<int>& cpus);

// Names the calling thread for ps, top and traces; 15 characters are kept.
void name_this_thread(const std::string& name);

}  // namespace chexbench

#include "core/affinity.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstring>

#include "core/log.hpp"

namespace chexbench {

void bind_this_thread(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  const int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  if (error != 0) log::warning("cannot bind a thread to {} cores: {}", cpus.size(), std::strerror(error));
}

std::vector<int> cores_of_rank(const std::vector<int>& cores, int local_rank, int local_world) {
  const std::size_t world = static_cast<std::size_t>(std::max(local_world, 1));
  const std::size_t share = std::max<std::size_t>(1, cores.size() / world);
  const std::size_t first = (static_cast<std::size_t>(local_rank) * share) % cores.size();
  const std::size_t last = std::min(cores.size(), first + share);
  return {cores.begin() + static_cast<std::ptrdiff_t>(first), cores.begin() + static_cast<std::ptrdiff_t>(last)};
}

void name_this_thread(const std::string& name) { pthread_setname_np(pthread_self(), name.substr(0, 15).c_str()); }

}  // namespace chexbench

#include "core/affinity.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include "core/kernel_file.hpp"
#include "core/log.hpp"
#include "core/numbers.hpp"

namespace chexbench {
namespace {

// Returns the first line of a kernel file; empty if it cannot be read.
std::string line_of(const std::string& path) {
  KernelPage page;
  const std::string_view text = read_kernel_file(path.c_str(), page);
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

void bind_this_thread(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  const int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  if (error != 0) log::warning("cannot bind a thread to {} cores: {}", cpus.size(), std::strerror(error));
}

std::vector<int> usable_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<int> usable_cores(const std::string& cpu_folder) {
  struct Core {
    int socket = 0;
    int cpu = 0;
  };
  std::vector<Core> cores;
  std::set<std::string> known;
  for (const int cpu : usable_cpus()) {
    const std::string topology = fmt::format("{}/cpu{}/topology", cpu_folder, cpu);
    std::string hyperthreads = line_of(topology + "/thread_siblings_list");
    if (!hyperthreads.empty() && !known.insert(std::move(hyperthreads)).second) continue;
    cores.push_back({parse_number<int>(line_of(topology + "/physical_package_id")).value_or(0), cpu});
  }
  std::ranges::stable_sort(cores, {}, &Core::socket);
  std::vector<int> cpus;
  for (const Core& core : cores) cpus.push_back(core.cpu);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

void name_this_thread(const std::string& name) { pthread_setname_np(pthread_self(), name.substr(0, 15).c_str()); }

}  // namespace chexbench

#include "core/affinity.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>

#include "core/log.hpp"
#include "core/numbers.hpp"

namespace chexbench {
namespace {

// Returns the first line of a file of the kernel; empty if it cannot be read.
std::string line_of(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, 256> text;
  const ssize_t bytes = ::read(file, text.data(), text.size());
  ::close(file);
  const std::string_view line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  return std::string(line.substr(0, line.find('\n')));
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

#include "measure/cgroup_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace chexbench::measure {
namespace {

namespace fs = std::filesystem;

// Version 1 writes "no limit" as the largest multiple of a page that fits into 64 bits.
constexpr std::uint64_t kNoLimitBytes = std::uint64_t{1} << 62;

// Returns the process's cgroup in each controller, with the key "" for version 2. The lines look like
// "4:cpu,cpuacct:/slurm/job_7" or "0::/user".
std::map<std::string, std::string> own_cgroups(const SystemRoots& roots) {
  std::map<std::string, std::string> cgroups;
  std::ifstream file(roots.proc + "/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::istringstream controllers(line.substr(first + 1, second - first - 1));
    const std::string path = line.substr(second + 1);
    if (second == first + 1) cgroups[""] = path;
    for (std::string name; std::getline(controllers, name, ',');) cgroups[name] = path;
  }
  return cgroups;
}

// Returns the folder of the cgroup and of each cgroup above it. In a container the path may be the host's, while only
// the root is mounted.
std::vector<std::string> folders(const std::string& mount, const std::string& cgroup) {
  std::vector<std::string> list;
  for (fs::path path = fs::path(cgroup).lexically_normal(); path.has_relative_path(); path = path.parent_path())
    list.push_back(mount + path.string());
  list.push_back(mount);
  return list;
}

template <typename T>
void lower(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

void limit_memory(CgroupLimits& limits, std::optional<long long> bytes, std::optional<long long> used_bytes) {
  if (!bytes || *bytes < 0 || static_cast<std::uint64_t>(*bytes) >= kNoLimitBytes) return;
  if (limits.memory_bytes && *limits.memory_bytes <= static_cast<std::uint64_t>(*bytes)) return;
  limits.memory_bytes = static_cast<std::uint64_t>(*bytes);
  limits.memory_used_bytes.reset();
  if (used_bytes) limits.memory_used_bytes = static_cast<std::uint64_t>(std::max(0LL, *used_bytes));
}

void limit_cpuset(CgroupLimits& limits, const std::optional<std::string>& list) {
  // The first list comes from the innermost cgroup, and already respects those above it.
  if (limits.cpuset.empty() && list) limits.cpuset = parse_cpu_list(*list);
}

// Parses "150000 100000", the microseconds of CPU time in a period and the period. "max 100000" means no limit.
void limit_cpus(CgroupLimits& limits, const std::optional<std::string>& cpu_max) {
  std::istringstream words(cpu_max.value_or(""));
  double quota = 0;
  double period = 0;
  if (words >> quota >> period && quota > 0 && period > 0) lower(limits.cpus, quota / period);
}

void read_version_2(CgroupLimits& limits, const std::string& folder) {
  limit_cpus(limits, read_line(folder + "/cpu.max"));
  limit_memory(limits, read_number(folder + "/memory.max"), read_number(folder + "/memory.current"));
  limit_cpuset(limits, read_line(folder + "/cpuset.cpus.effective"));
}

void read_version_1(CgroupLimits& limits, const std::string& controller, const std::string& folder) {
  if (controller == "cpu") {
    const std::optional<std::string> quota = read_line(folder + "/cpu.cfs_quota_us");
    limit_cpus(limits, quota.value_or("").append(" ").append(read_line(folder + "/cpu.cfs_period_us").value_or("")));
  } else if (controller == "memory") {
    limit_memory(limits, read_number(folder + "/memory.limit_in_bytes"),
                 read_number(folder + "/memory.usage_in_bytes"));
  } else if (controller == "cpuset") {
    limit_cpuset(limits, read_line(folder + "/cpuset.effective_cpus"));
  }
}

// Returns the number after `key` in a file of lines such as "throttled_usec 1200"; 0 if it is not there.
double number_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  for (double value = 0; file >> word >> value;) {
    if (word == key) return value;
  }
  return 0;
}

}  // namespace

double cgroup_throttled_s(const SystemRoots& roots) {
  const std::string mount = roots.sys + "/fs/cgroup";
  double throttled_s = 0;  // of the cgroup, or of one above it, whose limit stops it too
  for (const auto& [controller, cgroup] : own_cgroups(roots)) {
    if (!controller.empty() && controller != "cpu") continue;
    for (const std::string& folder : folders(controller.empty() ? mount : mount + "/cpu", cgroup)) {
      throttled_s = std::max({throttled_s, 1e-6 * number_after(folder + "/cpu.stat", "throttled_usec"),
                              1e-9 * number_after(folder + "/cpu.stat", "throttled_time")});
    }
  }
  return throttled_s;
}

CgroupLimits probe_cgroup_limits(const SystemRoots& roots) {
  CgroupLimits limits;
  const std::string mount = roots.sys + "/fs/cgroup";
  for (const auto& [controller, cgroup] : own_cgroups(roots)) {
    if (controller.empty()) {
      for (const std::string& folder : folders(mount, cgroup)) read_version_2(limits, folder);
    } else {
      for (const std::string& folder : folders(fmt::format("{}/{}", mount, controller), cgroup))
        read_version_1(limits, controller, folder);
    }
  }
  return limits;
}

}  // namespace chexbench::measure

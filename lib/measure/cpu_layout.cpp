#include "measure/cpu_layout.hpp"

#include <set>
#include <sstream>
#include <utility>

namespace chexbench::measure {
namespace {

std::vector<int> read_cpu_list(const std::string& path) { return parse_cpu_list(read_line(path).value_or("")); }

std::vector<std::vector<int>> numa_nodes(const std::string& folder) {
  std::vector<std::vector<int>> nodes;
  for (const int node : read_cpu_list(folder + "/online")) {
    std::vector<int> cpus = read_cpu_list(folder + "/node" + std::to_string(node) + "/cpulist");
    if (!cpus.empty()) nodes.push_back(std::move(cpus));
  }
  return nodes;
}

std::optional<double> load_average(const std::string& path) {
  std::istringstream words(read_line(path).value_or(""));
  double load = 0;
  return words >> load ? std::optional(load) : std::nullopt;
}

}  // namespace

CpuLayout probe_cpu_layout(const SystemRoots& roots) {
  CpuLayout layout;
  std::set<long long> sockets;
  std::set<std::pair<long long, long long>> cores;
  const std::string cpus = roots.sys + "/devices/system/cpu";
  for (const int cpu : read_cpu_list(cpus + "/online")) {
    const std::string folder = cpus + "/cpu" + std::to_string(cpu);
    ++layout.hardware_threads;
    const std::optional<long long> socket = read_number(folder + "/topology/physical_package_id");
    const std::optional<long long> core = read_number(folder + "/topology/core_id");
    if (socket) sockets.insert(*socket);
    if (socket && core) cores.emplace(*socket, *core);
    if (const auto governor = read_line(folder + "/cpufreq/scaling_governor")) ++layout.governors[*governor];
  }
  layout.sockets = static_cast<int>(sockets.size());
  layout.physical_cores = static_cast<int>(cores.size());
  layout.numa_nodes = numa_nodes(roots.sys + "/devices/system/node");
  layout.load = load_average(roots.proc + "/loadavg");
  return layout;
}

}  // namespace chexbench::measure

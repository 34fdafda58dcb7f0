// The variant for builds with hwloc: it picks one CPU per physical core, so that two ranks never share a core through
// its hyperthreads.
#include <hwloc.h>
#include <sched.h>

#include <memory>
#include <utility>

#include "core/affinity.hpp"

namespace chexbench {
namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  // Caches, buses and devices are not needed here, and discovering them takes most of the loading time.
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

int first_allowed(hwloc_const_cpuset_t cpuset, const cpu_set_t& allowed) {
  for (int cpu = hwloc_bitmap_first(cpuset); cpu >= 0; cpu = hwloc_bitmap_next(cpuset, cpu)) {
    if (CPU_ISSET(cpu, &allowed)) return cpu;
  }
  return -1;
}

}  // namespace

std::vector<int> usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cores;
  // Loading the topology takes milliseconds and its result never changes, so it is kept; the affinity mask is read
  // anew.
  static const Topology topology = load_topology();
  if (topology) {
    for (hwloc_obj_t core = nullptr;
         (core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr;) {
      const int cpu = first_allowed(core->cpuset, allowed);
      if (cpu >= 0) cores.push_back(cpu);
    }
  }
  if (!cores.empty()) return cores;
  cores = usable_cpus();
  if (cores.empty()) cores.push_back(0);
  return cores;
}

}  // namespace chexbench

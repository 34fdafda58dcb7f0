// The variant for builds with hwloc: it picks one CPU per physical core, so that two ranks never share a core through
// its hyperthreads.
#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

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

}  // namespace

std::vector<int> usable_cores() {
  // Loading the topology takes milliseconds and its result never changes, so it is kept; the affinity mask is read
  // anew.
  static const Topology topology = load_topology();
  std::vector<int> others = usable_cpus();
  std::vector<int> cores;
  for (hwloc_obj_t core = nullptr;
       topology && (core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr;) {
    const auto is_of_core = [core](int cpu) { return hwloc_bitmap_isset(core->cpuset, static_cast<unsigned>(cpu)); };
    const auto first = std::ranges::find_if(others, is_of_core);
    if (first == others.end()) continue;
    cores.push_back(*first);
    std::erase_if(others, is_of_core);
  }
  // A CPU that hwloc knows no core of is one itself: where /sys cannot be read, it knows of one CPU.
  cores.insert(cores.end(), others.begin(), others.end());
  if (cores.empty()) cores.push_back(0);
  return cores;
}

}  // namespace chexbench

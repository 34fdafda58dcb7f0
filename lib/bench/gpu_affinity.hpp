// Which GPU is near which cores, and so which rank's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/gpus.hpp"

namespace chexbench::bench {

struct NearGpu {
  engine::GpuIdentity gpu;
  std::vector<int> cpus;  // of the socket or NUMA node that it hangs on; empty where the system does not tell
};

// What one rank tells the others of its own.
struct RankView {
  std::string host;
  std::vector<int> cores;     // that it may use
  std::vector<NearGpu> gpus;  // that CUDA shows it, in its order
};

// For each rank, which of its GPUs it takes: of those that no rank before it took, the one that most of its cores are
// near to, else the first; where all are taken, the ranks of the host go round. No rank may be without a GPU.
std::vector<int> assign_gpus(const std::vector<RankView>& ranks);

// The CPUs near a PCI device, "0000:17:00.0", from a folder laid out like /sys/bus/pci/devices; none where it has none.
std::vector<int> cpus_near(const std::string& pci_bus_id, const std::string& folder = "/sys/bus/pci/devices");

// "0-3,8,10-11" as the kernel writes lists of CPUs. What is no list is none.
std::vector<int> parse_cpu_list(std::string_view text);

// Between ranks. from_text() of what to_text() wrote.
std::string to_text(const RankView& view);
RankView rank_view_from_text(const std::string& text);

}  // namespace chexbench::bench

// Finds out which GPU is near which cores, and thereby which rank takes which GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/gpus.hpp"

namespace chexbench::bench {

// A GPU and the CPUs near it.
struct NearGpu {
  engine::GpuIdentity gpu;
  std::vector<int> cpus;  // of the socket or NUMA node that it is attached to; empty if the system does not say
};

// What one rank sends to the others about its host, cores and GPUs.
struct RankView {
  std::string host;
  std::vector<int> cores;     // those that it may use
  std::vector<NearGpu> gpus;  // those that CUDA shows it, in CUDA's order
};

// Returns for each rank the index, in its RankView::gpus, of the GPU that it takes. Among the GPUs that no earlier rank
// took, this is the one that most of the rank's cores are near, and the first one if several are equally near. If all
// are taken, the ranks of a host take them round robin. Each rank must have a GPU.
std::vector<int> assign_gpus(const std::vector<RankView>& ranks);

// Returns the CPUs near a PCI device such as "0000:17:00.0", as a folder laid out like /sys/bus/pci/devices lists them;
// an empty list if the folder has no list for the device.
std::vector<int> cpus_near(const std::string& pci_bus_id, const std::string& folder = "/sys/bus/pci/devices");

// Parses a list of CPUs as the kernel writes it, such as "0-3,8,10-11". Returns an empty list for any other text.
std::vector<int> parse_cpu_list(std::string_view text);

// Packs a view into text for the other ranks, and unpacks the text that to_text() returned.
std::string to_text(const RankView& view);
RankView rank_view_from_text(const std::string& text);

}  // namespace chexbench::bench

// Finds the network adapters of this host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// A port of a network adapter.
struct NetworkInterface {
  std::string name;                         // "eth0"; for InfiniBand the adapter and its port, "mlx5_0/1"
  std::string kind;                         // "Ethernet", "InfiniBand" or another link layer, in the kernel's word
  std::string driver;                       // "ixgbe"; empty if unknown
  std::optional<std::uint64_t> bits_per_s;  // of the link; not set if it is down or its driver does not report it
};

// Returns the ports that have hardware, InfiniBand first, then by name. Interfaces without hardware (lo, docker0, veth,
// bonds, IPoIB) are left out, because their data goes through these ports. Reads sysfs; thread-safe.
std::vector<NetworkInterface> find_network_interfaces(const SystemRoots& roots = {});

// Returns "mlx5_0/1 (InfiniBand, 200 Gb/s, mlx5_core), eth0 (Ethernet, ixgbe)".
std::string to_string(const std::vector<NetworkInterface>& interfaces);

}  // namespace chexbench::measure

#include "measure/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string_view>

#include "core/numbers.hpp"

namespace chexbench::measure {
namespace {

namespace fs = std::filesystem;

constexpr long long kEthernet = 1;  // in the kernel's linux/if_arp.h; IPoIB is 32

std::string driver_of(const std::string& folder) {
  std::error_code error;
  return fs::read_symlink(folder + "/device/driver", error).filename().string();
}

// Reads "200 Gb/sec (4X HDR)". A port without a link also has a rate, that of a single slow lane.
std::optional<std::uint64_t> rate_of(const std::string& port) {
  if (!read_line(port + "/state").value_or("").ends_with("ACTIVE")) return {};
  const std::string line = read_line(port + "/rate").value_or("");
  std::string_view rest = line;
  const std::optional<double> rate = take_number<double>(rest);
  if (!rate || *rate <= 0 || *rate > 1e6 || !rest.starts_with(" Gb/sec")) return {};
  return static_cast<std::uint64_t>(1e9 * *rate);
}

// Ports that carry Ethernet (RoCE) are left out, because they also are network interfaces. Others, such as AWS's EFA,
// may name no link layer.
std::vector<NetworkInterface> infiniband_ports(const std::string& folder) {
  std::vector<NetworkInterface> ports;
  for (const std::string& adapter : names_in(folder)) {
    const std::string path = fmt::format("{}/{}", folder, adapter);
    for (const std::string& number : names_in(path + "/ports")) {
      const std::string port = fmt::format("{}/ports/{}", path, number);
      const std::string layer = read_line(port + "/link_layer").value_or("");
      if (layer == "Ethernet") continue;
      ports.push_back({.name = fmt::format("{}/{}", adapter, number),
                       .kind = layer,
                       .driver = driver_of(path),
                       .bits_per_s = rate_of(port)});
    }
  }
  return ports;
}

// Reads Mb/s. Without a link, reading fails, or the number is -1.
std::optional<std::uint64_t> speed_of(const std::string& folder) {
  const long long speed = read_number(folder + "/speed").value_or(-1);
  return speed > 0 && speed < 1'000'000'000 ? std::optional(1'000'000 * static_cast<std::uint64_t>(speed))
                                            : std::nullopt;
}

}  // namespace

std::vector<NetworkInterface> find_network_interfaces(const SystemRoots& roots) {
  std::vector<NetworkInterface> all = infiniband_ports(roots.sys + "/class/infiniband");
  const std::string net = roots.sys + "/class/net";
  for (const std::string& name : names_in(net)) {
    const std::string folder = fmt::format("{}/{}", net, name);
    std::error_code error;
    if (!fs::exists(folder + "/device", error) || read_number(folder + "/type") != kEthernet) continue;
    all.push_back({.name = name, .kind = "Ethernet", .driver = driver_of(folder), .bits_per_s = speed_of(folder)});
  }
  return all;
}

std::string to_string(const std::vector<NetworkInterface>& interfaces) {
  std::vector<std::string> texts;
  for (const NetworkInterface& one : interfaces) {
    std::string text = fmt::format("{} ({}", one.name, one.kind);
    if (one.bits_per_s) text += fmt::format(", {:g} Gb/s", static_cast<double>(*one.bits_per_s) / 1e9);
    texts.push_back(text + (one.driver.empty() ? ")" : ", " + one.driver + ")"));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace chexbench::measure

#include "spec/comm_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/errors.hpp"
#include "spec/document.hpp"
#include "spec/object_reader.hpp"
#include "spec/shipped.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::spec {
namespace {

// A term of a profile: an object with its value and its source.
ObjectReader term(const ObjectReader& reader, const std::string& where, const std::string& key, CommProfile& profile) {
  ObjectReader term(reader.node(key), fmt::format("{}.{}", where, key), {"value", "source"});
  profile.sources[key] = term.text("source");
  return term;
}

ValueRule above_zero(double maximum) {
  ValueRule rule = value_rule(ValueType::number, 0, maximum);
  rule.above_minimum = true;
  return rule;
}

}  // namespace

std::span<const NamedLink> links() {
  static constexpr std::array<NamedLink, 8> kLinks = {{
      {"nvlink2", 2.5e-6, 1.5e11, "NVLink of a V100", "six links of 25 GB/s (nvidia.com/data-center/nvlink)"},
      {"nvlink1", 2.5e-6, 8e10, "NVLink of a P100", "four links of 20 GB/s (Microway, NVIDIA Tesla P100)"},
      {"pcie3", 2.5e-6, 1.575e10, "PCI Express 3.0, 16 lanes", "8 GT/s a lane, 128b/130b; latency as of NVLink"},
      {"edr", 2e-6, 1.25e10, "InfiniBand EDR", "four lanes of 25.78125 Gbit/s, 64b/66b (ConnectX-4 VPI manual)"},
      {"100gbe", 2e-5, 1.25e10, "100 Gbit/s Ethernet", "latency as of 10gbe"},
      {"fdr", 2e-6, 6.82e9, "InfiniBand FDR", "four lanes of 14.0625 Gbit/s, 64b/66b (infiniband.jp rate table)"},
      {"25gbe", 2e-5, 3.125e9, "25 Gbit/s Ethernet", "latency as of 10gbe"},
      {"10gbe", 2e-5, 1.25e9, "10 Gbit/s Ethernet", "20 us over TCP (Hurwitz and Feng, Hot Interconnects 11, 2003)"},
  }};
  return kLinks;
}

const NamedLink& find_link(const std::string& name) {
  const auto found = std::ranges::find(links(), name, &NamedLink::name);
  if (found != links().end()) return *found;
  std::vector<std::string> names;
  for (const NamedLink& link : links()) names.emplace_back(link.name);
  throw SpecError(fmt::format("no link '{}'{}; comm.alpha_s and comm.beta_bytes_per_s describe any other", shown(name),
                              suggestion(name, names)));
}

CommProfile load_comm_profile(const std::string& name_or_path) {
  const auto [text, where] =
      read_shipped(name_or_path, embedded_communication(), "configs/communication", "communication profile");
  return parse_comm_profile(text, where);
}

CommProfile parse_comm_profile(const std::string& text, const std::string& where) {
  const Node document = parse_document(text, where);
  const ObjectReader reader(document, where,
                            {"description", "tensor_s", "line_rate_share", "host_bytes_per_s", "servers_on_hosts"});
  CommProfile profile{.description = reader.text("description"), .host_bytes_per_s = {}, .sources = {}};
  const auto number = [&](const std::string& key, double maximum) {
    return term(reader, where, key, profile).number("value", above_zero(maximum));
  };
  if (reader.has("tensor_s")) profile.tensor_s = number("tensor_s", 1);
  if (reader.has("line_rate_share")) profile.line_rate_share = number("line_rate_share", 1);
  if (reader.has("host_bytes_per_s")) profile.host_bytes_per_s = number("host_bytes_per_s", 1e15);
  if (reader.has("servers_on_hosts"))
    profile.servers_on_hosts = term(reader, where, "servers_on_hosts", profile).boolean("value");
  return profile;
}

void check_links(const CommSpec& comm, std::string_view set_ranks_per_host) {
  static const CommSpec defaults;
  // A file is read only where it is applied: a report must stay readable without it.
  const CommProfile profile = is_path_of_file(comm.profile) ? CommProfile{} : load_comm_profile(comm.profile);
  const bool is_ring = comm.update == UpdateScheme::all_reduce || comm.update == UpdateScheme::ring;
  if (comm.profile != defaults.profile && !is_ring) {
    throw SpecError(fmt::format(
        "comm.update is {}, but comm.profile {} describes software that averages in another way: leave comm.update at "
        "all_reduce, or comm.profile at ideal",
        to_string(comm.update), comm.profile));
  }
  check_hosts(profile, comm, set_ranks_per_host);
  if (!comm.link.empty()) {
    find_link(comm.link);
    if (comm.alpha_s != defaults.alpha_s || comm.beta_bytes_per_s != defaults.beta_bytes_per_s) {
      throw SpecError(fmt::format(
          "comm.link is {}, whose latency and bandwidth are known: leave out comm.alpha_s and comm.beta_bytes_per_s",
          comm.link));
    }
  }
  if (comm.host_link.empty()) return;
  find_link(comm.host_link);
  if (comm.ranks_per_host == 0) {
    throw SpecError(fmt::format("comm.host_link is {}, but nothing says which ranks share a host: {}", comm.host_link,
                                set_ranks_per_host));
  }
  if (!is_ring) {
    throw SpecError(fmt::format(
        "comm.host_link is {}, but comm.update {} is modelled over equal links: leave comm.update at all_reduce, or "
        "comm.host_link empty",
        comm.host_link, to_string(comm.update)));
  }
}

void check_hosts(const CommProfile& profile, const CommSpec& comm, std::string_view set_ranks_per_host) {
  if (profile.servers_on_hosts && comm.ranks_per_host == 0) {
    throw SpecError(fmt::format("comm.profile {} has a server on each host: {}", comm.profile, set_ranks_per_host));
  }
}

}  // namespace chexbench::spec

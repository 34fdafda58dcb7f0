#include "bench/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/affinity.hpp"

namespace chexbench::bench {
namespace {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string broadcast_text(comm::Communicator& communicator, std::string text) {
  std::uint64_t size = text.size();
  communicator.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  text.resize(size);
  if (size > 0) communicator.broadcast(std::as_writable_bytes(std::span(text.data(), text.size())), 0);
  return text;
}

std::vector<std::string> all_gather(comm::Communicator& communicator, const std::string& text) {
  std::string packed;
  for (const std::string& part : communicator.gather(text, 0)) {
    append(packed, std::uint64_t{part.size()});
    packed += part;
  }
  packed = broadcast_text(communicator, std::move(packed));
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < packed.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, packed.data() + at, sizeof size);
    parts.push_back(packed.substr(at + sizeof size, size));
    at += sizeof size + size;
  }
  return parts;
}

HostCores find_host_cores(comm::World& world) {
  HostCores host{
      .cores = usable_cores(), .shared = true, .local_rank = world.local_rank(), .local_world = world.local_world()};
  const std::string prefix = host_name() + ":";
  const std::string mine = prefix + fmt::format("{}", fmt::join(host.cores, ","));
  const std::vector<std::string> all = all_gather(world.communicator(), mine);
  host.shared = std::all_of(all.begin(), all.end(),
                            [&](const std::string& other) { return !other.starts_with(prefix) || other == mine; });
  return host;
}

CoreShare share_cores(const HostCores& host, const spec::Experiment& spec, int ranks) {
  const int cores = static_cast<int>(host.cores.size());
  const int local_ranks = std::min(ranks, host.local_world);
  if (spec.all_cores) return {.cores = host.cores, .oversubscribed = host.shared && local_ranks > 1};
  const int sharers = host.shared ? host.local_world : 1;
  const int wanted = spec.cores_per_rank.value_or(std::max(1, cores / sharers));
  const int first = host.shared ? host.local_rank * wanted : 0;
  CoreShare share;
  for (int i = 0; i < std::min(wanted, cores); ++i) share.cores.push_back(host.cores[(first + i) % cores]);
  share.oversubscribed = (host.shared ? local_ranks : 1) * wanted > cores;
  return share;
}

}  // namespace chexbench::bench

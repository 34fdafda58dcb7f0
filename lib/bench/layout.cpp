#include "bench/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "core/affinity.hpp"

namespace chexbench::bench {
namespace {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

// The name of the host, then its cores, each behind a blank; a host's name holds none.
std::string to_text(const RankCores& rank) { return fmt::format("{} {}", rank.host, fmt::join(rank.cores, " ")); }

RankCores from_text(const std::string& text) {
  std::istringstream words(text);
  RankCores rank;
  words >> rank.host;
  for (int core = 0; words >> core;) rank.cores.push_back(core);
  return rank;
}

bool intersect(const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::any_of(a, [&](int core) { return std::ranges::find(b, core) != b.end(); });
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

HostCores host_cores_of(const std::vector<RankCores>& ranks, std::size_t rank) {
  const RankCores& own = ranks[rank];
  HostCores host{.cores = own.cores, .sharers = 0, .host = own.host};
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].host != own.host) continue;
    if (r < rank) ++host.local_rank;
    if (ranks[r].cores == own.cores) {
      if (r < rank) ++host.place;
      ++host.sharers;
    } else {
      host.overlaps = host.overlaps || intersect(ranks[r].cores, own.cores);
    }
  }
  return host;
}

std::vector<RankCores> gather_rank_cores(comm::World& world) {
  std::vector<RankCores> ranks;
  for (const std::string& text : all_gather(world.communicator(), to_text({host_name(), usable_cores()}))) {
    ranks.push_back(from_text(text));
  }
  return ranks;
}

HostCores find_host_cores(comm::World& world) {
  return host_cores_of(gather_rank_cores(world), static_cast<std::size_t>(world.communicator().rank()));
}

CoreShare share_cores(const HostCores& host, const spec::Experiment& spec, int ranks) {
  const int cores = static_cast<int>(host.cores.size());
  const int active_sharers = std::min(ranks, host.sharers);
  if (spec.all_cores) return {.cores = host.cores, .oversubscribed = host.overlaps || active_sharers > 1};
  const int wanted = spec.cores_per_rank.value_or(std::max(1, cores / host.sharers));
  const int first = host.place * wanted;
  CoreShare share;
  for (int i = 0; i < std::min(wanted, cores); ++i) share.cores.push_back(host.cores[(first + i) % cores]);
  share.oversubscribed = host.overlaps || active_sharers * wanted > cores;
  return share;
}

}  // namespace chexbench::bench

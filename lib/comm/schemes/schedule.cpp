#include "comm/schemes/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <stdexcept>

#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

// Returns a message with part `part` of `count` values, to or from `peer`. The values are divided into `parts` parts
// whose sizes differ by one at most.
Message part_of(std::size_t count, std::size_t parts, std::size_t part, int peer, bool add) {
  const auto begin = [&](std::size_t index) { return index * (count / parts) + std::min(index, count % parts); };
  return {.peer = peer, .first = begin(part), .count = begin(part + 1) - begin(part), .add = add};
}

// A ring over `members`: reduce-scatter, then all-gather, in 2 (n-1) rounds of count / n values (Patarasuk and Yuan,
// "Bandwidth optimal all-reduce algorithms", 2009). `rank` must be one of the members.
Schedule ring_schedule(int rank, std::span<const int> members, std::size_t count) {
  const std::size_t n = members.size();
  const auto place = static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
  const int next = members[(place + 1) % n];
  const int previous = members[(place + n - 1) % n];
  const auto part = [&](int peer, std::size_t number, bool add) { return part_of(count, n, number % n, peer, add); };
  Schedule schedule;
  // Part p starts at the member after p, and is complete when it reaches member p.
  for (std::size_t r = 0; r + 1 < n; ++r) {
    schedule.push_back({.sends = {part(next, place + 2 * n - r - 1, false)},
                        .receives = {part(previous, place + 2 * n - r - 2, true)}});
  }
  for (std::size_t r = 0; r + 1 < n; ++r) {
    schedule.push_back(
        {.sends = {part(next, place + n - r, false)}, .receives = {part(previous, place + n - r - 1, false)}});
  }
  return schedule;
}

// A binomial tree to the first member and back, in 2 ceil(log2 n) rounds of all values (Thakur, Rabenseifner and
// Gropp, "Optimization of collective communication operations in MPICH", 2005). `rank` must be one of the members.
Schedule tree_schedule(int rank, std::span<const int> members, std::size_t count) {
  const std::size_t n = members.size();
  const auto place = static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
  const std::size_t end = std::bit_ceil(n);
  const auto with = [&](std::size_t other, bool add) {
    return Message{.peer = members[other], .first = 0, .count = count, .add = add};
  };
  Schedule up;
  Schedule down;  // last round first
  for (std::size_t step = 1; step < end; step *= 2) {
    if (place % step != 0) break;  // this rank has already sent its sum
    if (place % (2 * step) != 0) {
      up.push_back({.sends = {with(place - step, false)}, .receives = {}});
      down.push_back({.sends = {}, .receives = {with(place - step, false)}});
    } else if (place + step < n) {
      up.push_back({.sends = {}, .receives = {with(place + step, true)}});
      down.push_back({.sends = {with(place + step, false)}, .receives = {}});
    }
  }
  up.insert(up.end(), down.rbegin(), down.rend());
  return up;
}

// A tree within each host to its first rank, a ring of these first ranks, and the trees back. The values cross
// between hosts only in the ring, where each of h hosts sends 2 (h-1) / h times `count` values.
Schedule hierarchical_schedule(int rank, const Hosts& hosts, std::size_t count) {
  const int own_host = hosts[static_cast<std::size_t>(rank)];
  std::vector<int> neighbours;  // on this rank's host
  std::vector<int> leaders;     // the first rank of each host
  for (int other = 0; other < static_cast<int>(hosts.size()); ++other) {
    const auto host = hosts.begin() + other;
    if (*host == own_host) neighbours.push_back(other);
    if (std::find(hosts.begin(), host, *host) == host) leaders.push_back(other);
  }
  // The first half of a tree schedule goes to the first member, the second half back. The leaders' ring comes in
  // between.
  Schedule schedule = tree_schedule(rank, neighbours, count);
  if (neighbours.front() != rank) return schedule;
  const Schedule ring = ring_schedule(rank, leaders, count);
  schedule.insert(schedule.begin() + static_cast<std::ptrdiff_t>(schedule.size() / 2), ring.begin(), ring.end());
  return schedule;
}

// Ranks 0 to servers - 1 are workers and also servers, each for an equal part of the values. A server receives its
// part from all ranks and sends the sum back (Li et al., "Scaling distributed machine learning with the parameter
// server", 2014; here in its synchronous form).
Schedule parameter_server_schedule(int rank, int world, int servers, std::size_t count) {
  const auto part = [&](int server, int peer, bool add) {
    return part_of(count, static_cast<std::size_t>(servers), static_cast<std::size_t>(server), peer, add);
  };
  Round push;
  Round pull;
  // Each rank begins with a different server. Otherwise all ranks would queue at one server after the other.
  for (int i = 1; i <= servers; ++i) {
    const int server = (rank + i) % servers;
    if (server == rank) continue;
    push.sends.push_back(part(server, server, false));
    pull.receives.push_back(part(server, server, false));
  }
  for (int i = 1; rank < servers && i < world; ++i) {
    const int worker = (rank + i) % world;
    push.receives.push_back(part(rank, worker, true));
    pull.sends.push_back(part(rank, worker, false));
  }
  return {push, pull};
}

Hosts groups_of(int ranks_per_group, int world) {
  Hosts groups;
  for (int rank = 0; rank < world; ++rank) groups.push_back(rank / ranks_per_group);
  return groups;
}

Schedule whole_schedule(const spec::CommSpec& comm, int rank, const Hosts& hosts, std::size_t count) {
  const auto world = static_cast<int>(hosts.size());
  std::vector<int> all(hosts.size());
  std::iota(all.begin(), all.end(), 0);
  switch (comm.update) {
    case spec::UpdateScheme::ring:
      return ring_schedule(rank, all, count);
    case spec::UpdateScheme::tree:
      return tree_schedule(rank, all, count);
    case spec::UpdateScheme::hierarchical:
      return hierarchical_schedule(rank, comm.ranks_per_group > 0 ? groups_of(comm.ranks_per_group, world) : hosts,
                                   count);
    case spec::UpdateScheme::parameter_server:
      return parameter_server_schedule(rank, world, comm.servers, count);
    case spec::UpdateScheme::all_reduce:
      break;
  }
  throw std::logic_error("comm: all_reduce is the library's, which has no schedule here");
}

}  // namespace

void check_servers(const spec::CommSpec& comm, int ranks) {
  if (comm.update != spec::UpdateScheme::parameter_server || comm.servers <= ranks) return;
  throw SpecError(
      fmt::format("comm.servers is {}, but there are {} ranks, which are the servers too", comm.servers, ranks));
}

Schedule make_schedule(const spec::CommSpec& comm, int rank, const Hosts& hosts, std::size_t count) {
  check_servers(comm, static_cast<int>(hosts.size()));
  Schedule schedule = whole_schedule(comm, rank, hosts, count);
  const auto is_empty = [](const Message& message) { return message.count == 0; };
  for (Round& round : schedule) {
    std::erase_if(round.sends, is_empty);
    std::erase_if(round.receives, is_empty);
  }
  return schedule;
}

}  // namespace chexbench::comm

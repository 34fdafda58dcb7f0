#include "comm/schemes/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

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

Message part_of(std::size_t count, std::size_t parts, std::size_t part, int peer, bool add) {
  const auto begin = [&](std::size_t index) { return index * (count / parts) + std::min(index, count % parts); };
  return {.peer = peer, .first = begin(part), .count = begin(part + 1) - begin(part), .add = add};
}

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

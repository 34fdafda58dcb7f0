#include <algorithm>

#include "comm/schemes/schedule.hpp"

namespace chexbench::comm {

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

}  // namespace chexbench::comm

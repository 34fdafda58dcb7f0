#include <algorithm>

#include "comm/schemes/schedule.hpp"

namespace chexbench::comm {

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

}  // namespace chexbench::comm

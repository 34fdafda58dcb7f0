#include <algorithm>

#include "comm/schemes/schedule.hpp"

namespace chexbench::comm {

Schedule ring_schedule(int rank, std::span<const int> members, std::size_t count) {
  const std::size_t n = members.size();
  const auto place = static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
  const int next = members[(place + 1) % n];
  const int previous = members[(place + n - 1) % n];
  const auto message = [&](int peer, std::size_t part, bool add) {
    Message made = part_of(count, n, part % n);
    made.peer = peer;
    made.add = add;
    return made;
  };
  Schedule schedule;
  const auto add_round = [&](const Message& send, const Message& receive) {
    Round& round = schedule.emplace_back();
    if (send.count > 0) round.sends.push_back(send);
    if (receive.count > 0) round.receives.push_back(receive);
  };
  // Part p begins at the member behind p, and is complete at member p.
  for (std::size_t r = 0; r + 1 < n; ++r)
    add_round(message(next, place + 2 * n - r - 1, false), message(previous, place + 2 * n - r - 2, true));
  for (std::size_t r = 0; r + 1 < n; ++r)
    add_round(message(next, place + n - r, false), message(previous, place + n - r - 1, false));
  return schedule;
}

}  // namespace chexbench::comm

#include <algorithm>
#include <bit>

#include "comm/schemes/schedule.hpp"

namespace chexbench::comm {

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

}  // namespace chexbench::comm

#include "kernel_time/covered_time.hpp"

#include <algorithm>
#include <iterator>

namespace chexbench::measure {

std::uint64_t CoveredTime::add(std::uint64_t begin_ns, std::uint64_t end_ns) {
  begin_ns = std::max(begin_ns, begin_ns_);
  if (end_ns <= begin_ns) return 0;
  if (begin_ns < summed_until_ns_) {
    exact_ = false;
    begin_ns = summed_until_ns_;
    if (end_ns <= begin_ns) return 0;
  }
  std::uint64_t covered_before_ns = 0;
  // The pieces that the new interval touches become part of it.
  auto next = open_.upper_bound(begin_ns);
  if (next != open_.begin() && std::prev(next)->second >= begin_ns) --next;
  while (next != open_.end() && next->first <= end_ns) {
    begin_ns = std::min(begin_ns, next->first);
    end_ns = std::max(end_ns, next->second);
    covered_before_ns += next->second - next->first;
    next = open_.erase(next);
  }
  open_.emplace_hint(next, begin_ns, end_ns);
  if (open_.size() > most_open_) sum_up_oldest();
  return end_ns - begin_ns - covered_before_ns;
}

// Sums up half of the pieces at once, to keep this rare.
void CoveredTime::sum_up_oldest() {
  const std::size_t kept = most_open_ / 2;
  while (open_.size() > kept) {
    const auto oldest = open_.begin();
    summed_ns_ += oldest->second - oldest->first;
    summed_until_ns_ = oldest->second;
    open_.erase(oldest);
  }
}

void CoveredTime::begin_at(std::uint64_t begin_ns) {
  begin_ns_ = begin_ns;
  summed_ns_ = 0;
  exact_ = summed_until_ns_ <= begin_ns;
  std::map<std::uint64_t, std::uint64_t> open;
  open.swap(open_);
  for (const auto& [from, to] : open) add(from, to);
}

std::uint64_t CoveredTime::covered_ns(std::uint64_t end_ns) const {
  std::uint64_t covered = summed_ns_;
  for (const auto& [from, to] : open_) {
    if (from < end_ns) covered += std::min(to, end_ns) - from;
  }
  return covered;
}

}  // namespace chexbench::measure

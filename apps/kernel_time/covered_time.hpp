// Measures how much of a time line is covered by intervals that may overlap, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace chexbench::measure {

// The union of intervals [begin_ns, end_ns) that are added in almost any order. The union consists of disjoint pieces.
// The newest `most_open` pieces stay open for late intervals; older pieces are summed up and cannot change. All times
// are in ns of any one clock. Not thread-safe.
class CoveredTime {
 public:
  explicit CoveredTime(std::size_t most_open = 65536) : most_open_(most_open) {}

  // Returns the time that no interval covered before. An empty interval, or one that ends before it begins, covers
  // nothing.
  std::uint64_t add(std::uint64_t begin_ns, std::uint64_t end_ns);
  // Discards everything before `begin_ns`, including later additions there.
  void begin_at(std::uint64_t begin_ns);

  // Returns the covered time before `end_ns`.
  std::uint64_t covered_ns(std::uint64_t end_ns) const;
  // Returns whether covered_ns(end_ns) is exact. It is not if an interval arrived for a place that was already summed
  // up, or if pieces after `end_ns` were summed up.
  bool exact(std::uint64_t end_ns) const { return exact_ && summed_until_ns_ <= end_ns; }

 private:
  void sum_up_oldest();

  std::size_t most_open_;
  std::map<std::uint64_t, std::uint64_t> open_;  // begin -> end of each piece, disjoint
  std::uint64_t begin_ns_ = 0;
  std::uint64_t summed_until_ns_ = 0;
  std::uint64_t summed_ns_ = 0;
  bool exact_ = true;
};

}  // namespace chexbench::measure

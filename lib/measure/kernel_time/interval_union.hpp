// How much of a time line is covered by intervals that may overlap, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace chexbench::measure {

// The union of intervals [begin_ns, end_ns) added in almost any order: the newest `most_open` of its pieces are kept
// open for what comes late, older ones are summed up for good. Not thread-safe.
class IntervalUnion {
 public:
  explicit IntervalUnion(std::size_t most_open = 65536) : most_open_(most_open) {}

  // An empty interval, or one that ends before it begins, covers nothing.
  void add(std::uint64_t begin_ns, std::uint64_t end_ns);
  // Drops all before `begin_ns`, and from now on what lies there.
  void begin_at(std::uint64_t begin_ns);

  // What is covered before `end_ns`.
  std::uint64_t covered_ns(std::uint64_t end_ns) const;
  // Whether covered_ns(end_ns) is exact: nothing came after its place on the time line was summed up, nor was that
  // place after `end_ns`.
  bool exact(std::uint64_t end_ns) const { return exact_ && summed_until_ns_ <= end_ns; }

 private:
  void sum_up_oldest();

  std::size_t most_open_;
  std::map<std::uint64_t, std::uint64_t> open_;  // begin -> end, apart from each other
  std::uint64_t begin_ns_ = 0;
  std::uint64_t summed_until_ns_ = 0;
  std::uint64_t summed_ns_ = 0;
  bool exact_ = true;
};

}  // namespace chexbench::measure

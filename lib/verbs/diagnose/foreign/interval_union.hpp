// The union of many spans of time, in bounded memory.
#pragma once

#include <cstddef>
#include <vector>

namespace chexbench::verbs::foreign {

struct Interval {
  double begin = 0;
  double end = 0;
};

class IntervalUnion {
 public:
  // Adds a span, in any order. Beyond kMost disjoint spans, the nearest ones are joined.
  void add(double begin, double end);
  // Returns how much of the span is covered.
  double covered(double begin, double end);
  // Returns the spans covered here but not there.
  IntervalUnion without(IntervalUnion& other);
  bool empty() const { return spans_.empty(); }

  static constexpr std::size_t kMost = 2'000'000;

 private:
  void order();
  void join(double gap);

  std::vector<Interval> spans_;
  std::vector<double> before_;  // the length of all spans before each one; empty while unsorted
  double joined_gap_ = 0;
};

}  // namespace chexbench::verbs::foreign

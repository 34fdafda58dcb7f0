#include "verbs/diagnose/foreign/interval_union.hpp"

#include <algorithm>

namespace chexbench::verbs::foreign {

void IntervalUnion::add(double begin, double end) {
  if (end <= begin) return;
  before_.clear();
  if (!spans_.empty() && begin >= spans_.back().begin && begin <= spans_.back().end + joined_gap_) {
    spans_.back().end = std::max(spans_.back().end, end);
    return;
  }
  spans_.push_back({.begin = begin, .end = end});
  if (spans_.size() < 2 * kMost) return;
  join(joined_gap_);
  while (spans_.size() > kMost) {
    const double mean_gap = (spans_.back().end - spans_.front().begin) / static_cast<double>(spans_.size());
    joined_gap_ = std::max(2 * joined_gap_, mean_gap / 2);
    join(joined_gap_);
  }
}

// Sorts the spans and joins those that overlap or are at most `gap` apart.
void IntervalUnion::join(double gap) {
  std::ranges::sort(spans_, {}, &Interval::begin);
  std::size_t kept = 0;
  for (const Interval& span : spans_) {
    if (kept > 0 && span.begin <= spans_[kept - 1].end + gap) {
      spans_[kept - 1].end = std::max(spans_[kept - 1].end, span.end);
    } else {
      spans_[kept++] = span;
    }
  }
  spans_.resize(kept);
}

void IntervalUnion::order() {
  if (before_.size() == spans_.size()) return;
  join(0);
  before_.clear();
  double length = 0;
  for (const Interval& span : spans_) {
    before_.push_back(length);
    length += span.end - span.begin;
  }
}

double IntervalUnion::covered(double begin, double end) {
  order();
  // Returns the covered length before `at`.
  const auto until = [this](double at) {
    const auto after = std::ranges::upper_bound(spans_, at, {}, &Interval::begin);
    if (after == spans_.begin()) return 0.0;
    const auto last = static_cast<std::size_t>(after - spans_.begin()) - 1;
    return before_[last] + std::min(at, spans_[last].end) - spans_[last].begin;
  };
  return end <= begin ? 0 : std::max(0.0, until(end) - until(begin));
}

IntervalUnion IntervalUnion::without(IntervalUnion& other) {
  order();
  other.order();
  IntervalUnion left;
  auto cut = other.spans_.begin();
  for (const Interval& span : spans_) {
    double begin = span.begin;
    while (cut != other.spans_.end() && cut->end <= begin) ++cut;
    for (auto at = cut; at != other.spans_.end() && at->begin < span.end; ++at) {
      left.add(begin, at->begin);
      begin = std::max(begin, at->end);
    }
    left.add(begin, span.end);
  }
  return left;
}

}  // namespace chexbench::verbs::foreign

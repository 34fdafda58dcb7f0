#include "bench/value_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace chexbench::bench {
namespace {

constexpr double kNoise = 0.02;        // of the best rate: less than this is no gain and no loss
constexpr int kStepsWithoutGain = 2;   // that end the climb: one step may be unlucky, or too small to tell
constexpr std::size_t kMostShown = 2;  // of the larger values, in a reason

class Search {
 public:
  Search(std::span<const std::int64_t> values, std::int64_t start, const CompareValues& compare)
      : values_(values), compare_(compare), start_(std::ranges::find(values, start) - values.begin()), best_(start) {
    rates_[start] = 1;
  }

  FoundValue run() {
    climb();
    const bool start_is_best = best_ == values_[static_cast<std::size_t>(start_)];
    if (start_is_best) descend();
    return choose();
  }

 private:
  // Compares `value` with the best one so far. Returns its rate over that of the best, or 0 if the time is up.
  double attempt(std::int64_t value) {
    const std::optional<TwoRates> rates = compare_(value, best_);
    if (!rates) {
      out_of_time_ = true;
      return 0;
    }
    const double ratio = rates->candidate / rates->reference;
    rates_[value] = ratio * rates_.at(best_);
    if (ratio >= 1 + kNoise) best_ = value;
    return ratio;
  }

  void climb() {
    int without_gain = 0;
    for (auto i = start_ + 1; i < std::ssize(values_) && without_gain < kStepsWithoutGain; ++i) {
      const double ratio = attempt(values_[static_cast<std::size_t>(i)]);
      if (out_of_time_) return;
      without_gain = ratio >= 1 + kNoise ? 0 : without_gain + 1;
    }
  }

  void descend() {
    for (auto i = start_ - 1; i >= 0; --i) {
      const double ratio = attempt(values_[static_cast<std::size_t>(i)]);
      if (out_of_time_ || ratio < 1 - kNoise) return;
    }
  }

  FoundValue choose() const {
    const double enough = rates_.at(best_) * (1 - kNoise);
    const std::int64_t start = values_[static_cast<std::size_t>(start_)];
    const std::int64_t least = best_ < start ? values_.front() : start;
    const auto chosen =
        std::ranges::find_if(rates_, [&](const auto& point) { return point.first >= least && point.second >= enough; });
    FoundValue found{.value = chosen->first, .reason = "", .points = {}};
    for (const auto& [value, rate] : rates_) found.points.push_back({.value = value, .gain = rate / chosen->second});
    found.reason = reason_of(found);
    return found;
  }

  static std::string effect(const FoundValue::Point& point) {
    const double percent = 100 * (point.gain - 1);
    return fmt::format("{} {} {:.1f} %", point.value, percent < 0 ? "lost" : "added", std::abs(percent));
  }

  // Says what the values beside the chosen one did.
  std::string reason_of(const FoundValue& found) const {
    std::vector<std::string> words;
    const auto above = std::ranges::upper_bound(found.points, found.value, {}, &FoundValue::Point::value);
    const auto chosen = std::prev(above);
    for (auto point = above; point != found.points.end() && words.size() < kMostShown; ++point)
      words.push_back(effect(*point));
    if (chosen != found.points.begin()) words.push_back(effect(*std::prev(chosen)));
    if (found.value == values_.back()) words.emplace_back("no more are tried");
    if (out_of_time_) words.emplace_back("then the time for trying was up");
    return fmt::format("{}", fmt::join(words, ", "));
  }

  const std::span<const std::int64_t> values_;
  const CompareValues& compare_;
  const std::ptrdiff_t start_;
  std::int64_t best_;
  // Of the values that were tried, in units of the start's: ratios of what was measured in turn, as rates measured
  // minutes apart may differ by what else the machine does.
  std::map<std::int64_t, double> rates_;
  bool out_of_time_ = false;
};

}  // namespace

FoundValue find_value(std::span<const std::int64_t> values, std::int64_t start, const CompareValues& compare) {
  return Search(values, start, compare).run();
}

}  // namespace chexbench::bench

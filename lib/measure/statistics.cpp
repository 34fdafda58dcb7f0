#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "core/random.hpp"
#include "spec/interval.hpp"

namespace chexbench::measure {
namespace {

constexpr std::size_t kMedianResamples = 10000;
constexpr std::size_t kFewestValues = spec::kRepeatsForInterval;

// Returns the median and reorders `values`.
double median_in_place(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

void require_values(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("statistics of no values");
}

// Returns the percentile interval of the values that `draw` returns; none if one of them is undefined, such as the
// ratio of two rates of 0.
template <class Draw>
std::optional<Interval> percentile_interval(Draw draw) {
  std::vector<double> statistics(kMedianResamples);
  std::ranges::generate(statistics, draw);
  if (std::ranges::any_of(statistics, [](double value) { return std::isnan(value); })) return std::nullopt;
  constexpr std::ptrdiff_t kTail = kMedianResamples / 40;  // 2.5 % on either side
  const auto low = statistics.begin() + kTail, high = statistics.end() - 1 - kTail;
  std::nth_element(statistics.begin(), low, statistics.end());
  std::nth_element(low + 1, high, statistics.end());
  return Interval{.low = *low, .high = *high};
}

// Fills `rounds` with random indices below its size.
void resample(RandomStream& stream, std::vector<std::size_t>& rounds) {
  for (std::size_t& round : rounds) round = static_cast<std::size_t>(stream.below(rounds.size()));
}

// The medians of resamples of the same values. It sorts the values once and counts how often each was drawn, which is
// much faster than sorting each of 10,000 resamples.
class ResampledMedian {
 public:
  explicit ResampledMedian(std::span<const double> values)
      : sorted_(values.begin(), values.end()), places_(values.size()), counts_(values.size()) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [values](std::size_t i) { return values[i]; });
    for (std::size_t place = 0; place < order.size(); ++place) places_[order[place]] = place;
    std::ranges::sort(sorted_);
  }

  // Returns the median of the values of these rounds; there are as many rounds as values.
  double operator()(std::span<const std::size_t> rounds) {
    std::ranges::fill(counts_, std::size_t{0});
    for (const std::size_t round : rounds) ++counts_[places_[round]];
    const std::size_t below_middle = (rounds.size() - 1) / 2, middle = rounds.size() / 2;
    std::size_t seen = 0, low = 0, high = 0;
    for (const std::size_t count : counts_) {  // without a branch, which no processor could predict
      seen += count;
      low += seen <= below_middle ? 1 : 0;
      high += seen <= middle ? 1 : 0;
    }
    return low == high ? sorted_[low] : (sorted_[low] + sorted_[high]) / 2;
  }

 private:
  std::vector<double> sorted_;
  std::vector<std::size_t> places_;  // of each value, in sorted order
  std::vector<std::size_t> counts_;
};

// Returns the interval of `statistic`, which is called with resamples of the indices 0 .. size-1.
template <class Statistic>
std::optional<Interval> interval_over_rounds(std::size_t size, std::uint64_t seed, Statistic statistic) {
  if (size < kFewestValues) return std::nullopt;
  RandomStream stream(seed);
  std::vector<std::size_t> rounds(size);
  return percentile_interval([&] {
    resample(stream, rounds);
    return statistic(rounds);
  });
}

}  // namespace

double median(std::span<const double> values) {
  require_values(values);
  std::vector<double> copy(values.begin(), values.end());
  return median_in_place(copy);
}

double median_absolute_deviation(std::span<const double> values) {
  const double middle = median(values);
  std::vector<double> deviations(values.begin(), values.end());
  for (double& value : deviations) value = std::abs(value - middle);
  return median_in_place(deviations);
}

std::optional<Interval> bootstrap_median_ci95(std::span<const double> values, std::uint64_t seed) {
  return interval_over_rounds(values.size(), seed, ResampledMedian(values));
}

Ratio paired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
  require_values(a);
  if (a.size() != b.size()) throw std::invalid_argument("paired ratio of trials with unlike numbers of rounds");
  ResampledMedian median_of_a(a), median_of_b(b);
  const auto resampled = [&](std::span<const std::size_t> rounds) { return median_of_a(rounds) / median_of_b(rounds); };
  return {.value = median(a) / median(b), .ci95 = interval_over_rounds(a.size(), seed, resampled)};
}

double sign_test(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) throw std::invalid_argument("sign test of trials with unlike numbers of rounds");
  std::size_t larger = 0, rounds = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    larger += a[i] > b[i] ? 1 : 0;
    rounds += a[i] != b[i] ? 1 : 0;
  }
  const std::size_t fewer = std::min(larger, rounds - larger);
  double probability = 0;  // of at most `fewer` rounds on one side
  // The logarithm of rounds over i, divided by the 2^rounds outcomes: both overflow from some 1,000 rounds on.
  double log_share = -std::numbers::ln2 * static_cast<double>(rounds);
  for (std::size_t i = 0; i <= fewer; ++i) {
    probability += std::exp(log_share);
    log_share += std::log(static_cast<double>(rounds - i) / static_cast<double>(i + 1));
  }
  return std::min(1.0, 2 * probability);
}

Ratio unpaired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
  Ratio ratio{.value = median(a) / median(b), .ci95 = std::nullopt};
  if (std::min(a.size(), b.size()) < kFewestValues) return ratio;
  RandomStream stream(seed);
  std::vector<std::size_t> rounds_of_a(a.size());
  std::vector<std::size_t> rounds_of_b(b.size());
  ResampledMedian median_of_a(a), median_of_b(b);
  ratio.ci95 = percentile_interval([&] {
    resample(stream, rounds_of_a);
    resample(stream, rounds_of_b);
    return median_of_a(rounds_of_a) / median_of_b(rounds_of_b);
  });
  return ratio;
}

}  // namespace chexbench::measure

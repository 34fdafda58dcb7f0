// Statistics over the repeats of a measurement. Formulas are at the functions, which are pure and thread-safe. Values
// must be finite; results have the unit of the values unless noted.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace chexbench::measure {

// Returns the middle value, or the mean of the two middle ones for an even number of values.
// @throws std::invalid_argument for no values
double median(std::span<const double> values);

// Returns the median of abs(x - median), not scaled by 1.4826 to a standard deviation.
// @throws std::invalid_argument for no values
double median_absolute_deviation(std::span<const double> values);

// A closed interval [low, high].
struct Interval {
  double low = 0;
  double high = 0;
};

// Returns the 95 % percentile-bootstrap interval of the median (Efron & Tibshirani, 1993, ch. 13) from 10,000
// resamples, deterministic for a given seed. Returns std::nullopt for fewer than five values: the extremes of three
// values cover the median with a probability of only 75 %.
std::optional<Interval> bootstrap_median_ci95(std::span<const double> values, std::uint64_t seed = 1);

// The ratio of the medians, median(a) / median(b), without a unit.
struct Ratio {
  double value = 0;
  std::optional<Interval> ci95;
};
// For values that were measured alternately: a[i] and b[i] belong to round i. The interval comes from resampling
// rounds, so a drift that both share cancels out. It is std::nullopt for fewer than five rounds.
// @throws std::invalid_argument for no values or different sizes
Ratio paired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed = 1);

// For values that were not measured alternately: each side is resampled separately. The interval is std::nullopt if
// either side has fewer than five values.
// @throws std::invalid_argument for no values
Ratio unpaired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed = 1);

// Returns the p-value of the two-sided sign test over rounds, in which a[i] and b[i] were measured alternately: the
// probability that chance alone makes at least as many rounds agree on which side is larger. It assumes nothing about
// the distribution of the values, so bursts of load do not mislead it. Rounds with equal values do not count; 1 without
// others. (Conover, Practical Nonparametric Statistics, 3rd ed., section 3.4)
// @throws std::invalid_argument for different sizes
double sign_test(std::span<const double> a, std::span<const double> b);

// Returns the mean of at least one value. Other tools' report formats need it; chexbench's figures are medians.
inline double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Returns the sum of the squared differences from the mean of at least one value: a variance before it is divided.
inline double squared_deviations(const std::vector<double>& values) {
  const double center = mean(values);
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [center](double sum, double value) { return sum + (value - center) * (value - center); });
}

}  // namespace chexbench::measure

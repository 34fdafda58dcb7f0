// Statistics of repeats; formulas in README.md beside this file. Functions are pure and thread-safe; values must be
// finite.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace chexbench::measure {

// The middle value, or the mean of the two middle ones. @throws std::invalid_argument for no values
double median(std::span<const double> values);

// Median absolute deviation from the median, unscaled. @throws std::invalid_argument for no values
double median_absolute_deviation(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

// 95 % percentile-bootstrap interval of the median (Efron & Tibshirani, 1993, ch. 13), 10,000 resamples, deterministic
// by seed. Empty under five values: three cover only 75 %.
std::optional<Interval> bootstrap_median_ci95(std::span<const double> values, std::uint64_t seed = 1);

// The ratio of medians a/b, with an interval from resampling rounds: a[i] and b[i] were measured in turn in round i.
// The interval is empty under five rounds. @throws std::invalid_argument for no values or unlike sizes
struct Ratio {
  double value = 0;
  std::optional<Interval> ci95;
};
Ratio paired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed = 1);

// The same for a and b that were measured apart: each is resampled by itself. The interval is empty where either has
// fewer than five values. @throws std::invalid_argument for no values
Ratio unpaired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed = 1);

}  // namespace chexbench::measure

// The statistics of section "Measuring" in lib/README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace chexbench::measure {

// The middle value, or the mean of the two middle ones. values must not be empty.
double median(std::span<const double> values);

// Median absolute deviation from the median, unscaled. values must not be empty.
double median_absolute_deviation(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

// 95 % percentile-bootstrap interval of the median (Efron & Tibshirani, 1993, ch. 13), 10,000 resamples, deterministic
// by seed. Empty under five values: three cover only 74 %.
std::optional<Interval> bootstrap_median_ci95(std::span<const double> values, std::uint64_t seed = 1);

// The ratio of medians a/b, with an interval from resampling rounds: a[i] and b[i] were measured in turn in round i.
// Sizes must agree. interval is empty under five rounds.
struct Ratio {
  double value = 0;
  std::optional<Interval> ci95;
};
Ratio paired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed = 1);

}  // namespace chexbench::measure

// The arithmetic mean. Reports of other tools want it; chexbench's own figures are medians (statistics.hpp).
#pragma once

#include <numeric>
#include <vector>

namespace chexbench::measure {

// Returns the mean of at least one value.
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

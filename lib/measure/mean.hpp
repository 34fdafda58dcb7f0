// The arithmetic mean. Reports of other tools want it; chexbench's own figures are medians (statistics.hpp).
#pragma once

#include <numeric>
#include <vector>

namespace chexbench::measure {

// Returns the mean of at least one value.
inline double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace chexbench::measure

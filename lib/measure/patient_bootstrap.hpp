// 95 % intervals of figures over images, where several images may belong to one patient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "measure/statistics.hpp"

namespace chexbench::measure {

inline constexpr int kBootstrapResamples = 1000;
inline constexpr std::uint64_t kBootstrapSeed = 1;

// A figure and its 95 % interval.
struct Estimate {
  std::optional<double> value;
  std::optional<Interval> ci95;
};

// Computes figures with image i counted weight[i] times, and writes one value for each, std::nullopt if it is
// undefined. The first call has all weights 1.
using WeightedFigures =
    std::function<void(std::span<const std::uint32_t> weight, std::span<std::optional<double>> values)>;

// Computes `count` figures and their percentile-bootstrap intervals. The bootstrap draws as many patients as there are
// with replacement, and takes all images of a drawn patient together (Field and Welsh, "Bootstrapping clustered data",
// 2007). It uses kBootstrapResamples resamples and a fixed seed, so the result is deterministic. `patients` has the
// patient of each image. An interval is std::nullopt if its figure is defined in fewer than half of the resamples.
// @throws InterruptedError if a signal arrives meanwhile
std::vector<Estimate> bootstrap_over_patients(const std::vector<std::uint32_t>& patients, std::size_t count,
                                              const WeightedFigures& figures);

// The mean over the figures that have a value in the first call. A later call in which other figures have values
// returns std::nullopt, because it would average different figures.
class MeanOfDefined {
 public:
  std::optional<double> operator()(std::span<const std::optional<double>> values);

 private:
  std::optional<std::vector<bool>> defined_;  // in the first call
};

}  // namespace chexbench::measure

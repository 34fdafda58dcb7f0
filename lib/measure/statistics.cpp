#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>

#include "core/random.hpp"
#include "spec/interval.hpp"

namespace chexbench::measure {
namespace {

constexpr std::size_t kMedianResamples = 10000;
constexpr std::size_t kFewestValues = spec::kRepeatsForInterval;

// Returns the median and loses the order of `values`. Resampling calls this 10,000 times, so it must not allocate.
double median_in_place(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

void require_values(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("statistics of no values");
}

// Returns the percentile interval of the values that `draw` returns; none if one of them is undefined, as the ratio of
// two rates of 0 is.
std::optional<Interval> percentile_interval(const std::function<double()>& draw) {
  std::vector<double> statistics(kMedianResamples);
  std::generate(statistics.begin(), statistics.end(), draw);
  if (std::ranges::any_of(statistics, [](double value) { return std::isnan(value); })) return std::nullopt;
  std::sort(statistics.begin(), statistics.end());
  constexpr std::size_t kTail = kMedianResamples / 40;  // 2.5 % on either side
  return Interval{.low = statistics[kTail], .high = statistics[kMedianResamples - 1 - kTail]};
}

// Fills `rounds` with random indices below its size.
void resample(RandomStream& stream, std::vector<std::size_t>& rounds) {
  for (std::size_t& round : rounds) round = static_cast<std::size_t>(stream.below(rounds.size()));
}

// Returns the interval of `statistic`, which is called with resamples of the indices 0 .. size-1.
std::optional<Interval> interval_over_rounds(std::size_t size, std::uint64_t seed,
                                             const std::function<double(std::span<const std::size_t>)>& statistic) {
  if (size < kFewestValues) return std::nullopt;
  RandomStream stream(seed);
  std::vector<std::size_t> rounds(size);
  return percentile_interval([&] {
    resample(stream, rounds);
    return statistic(rounds);
  });
}

double median_of_rounds(std::span<const double> values, std::span<const std::size_t> rounds,
                        std::vector<double>& scratch) {
  scratch.resize(rounds.size());
  std::transform(rounds.begin(), rounds.end(), scratch.begin(), [values](std::size_t round) { return values[round]; });
  return median_in_place(scratch);
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
  std::vector<double> scratch;
  return interval_over_rounds(values.size(), seed, [&](std::span<const std::size_t> rounds) {
    return median_of_rounds(values, rounds, scratch);
  });
}

Ratio paired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
  require_values(a);
  if (a.size() != b.size()) throw std::invalid_argument("paired ratio of arms with unlike numbers of rounds");
  std::vector<double> scratch;
  const auto resampled = [&](std::span<const std::size_t> rounds) {
    const double above = median_of_rounds(a, rounds, scratch);
    return above / median_of_rounds(b, rounds, scratch);
  };
  return {.value = median(a) / median(b), .ci95 = interval_over_rounds(a.size(), seed, resampled)};
}

double sign_test(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) throw std::invalid_argument("sign test of arms with unlike numbers of rounds");
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
  std::vector<double> scratch;
  ratio.ci95 = percentile_interval([&] {
    resample(stream, rounds_of_a);
    resample(stream, rounds_of_b);
    const double above = median_of_rounds(a, rounds_of_a, scratch);
    return above / median_of_rounds(b, rounds_of_b, scratch);
  });
  return ratio;
}

}  // namespace chexbench::measure

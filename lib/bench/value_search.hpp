// Finds a value for a parameter that is "auto": how many calls or files at once deliver most. It knows neither clocks
// nor pipelines, only what the caller measures.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace chexbench::bench {

// The rates of two values, which only their ratio tells apart.
struct TwoRates {
  double candidate = 0;
  double reference = 0;
};
// Measures two values in turn, and returns what is known of their rates by then. Empty: the time is up.
using CompareValues = std::function<std::optional<TwoRates>(std::int64_t candidate, std::int64_t reference)>;

struct FoundValue {
  struct Point {
    std::int64_t value = 0;
    double gain = 1;  // over the value that was chosen
  };
  std::int64_t value = 0;
  std::string reason;         // "6 added 0.8 %, 3 lost 5.1 %"
  std::vector<Point> points;  // that were tried, by value
};

// Chooses from `values`, which ascend and contain `start`. Climbs from the start to larger values until two of them in
// a row add less than 2 % to the best one. If none added 2 %, goes down from the start for as long as nothing is lost.
// Takes the smallest value within 2 % of the best, which holds least memory and fewest threads, but none below the
// start unless one of those was 2 % faster: short windows do not show how more calls bridge what disturbs one of them.
FoundValue find_value(std::span<const std::int64_t> values, std::int64_t start, const CompareValues& compare);

}  // namespace chexbench::bench

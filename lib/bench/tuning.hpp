// Finds the values of parameters that are "auto" before a trial's first repeat, by measuring: each value that is tried
// gets a pipeline of its own, the very one that a repeat would run, whose batches are dropped as fast as they come.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/trial.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// How thoroughly values are tried.
struct TuningPlan {
  // A window begins when two batches have come, or as many images as the pipeline may have read ahead. It ends when it
  // has lasted this long and delivered four more batches, or as many images again.
  double window_s = 0.3;
  // Two values are measured in turn in so many rounds: in two where the new value is far ahead, and in up to
  // most_rounds while the windows of one value scatter, as on a machine that others use.
  int rounds = 3;
  int most_rounds = 8;
  double most_s = 60;  // after which no more values of a parameter are tried
};

// Returns what was found for each parameter of the trial's pipeline that is "auto", in the order of the list. All ranks
// try the same value at the same time, as they will run, and get the same result. Logs it on rank 0, under `trial`.
// Collective over context.communicator.
// @throws what run_repeat() throws, but for a finite pipeline that ends
std::vector<results::OpTuning> tune_input(const TrialContext& context, const std::string& trial,
                                          const TuningPlan& plan);

// Returns whether the trial's pipeline has such a parameter.
bool has_auto(const spec::TrialSpec& spec);

// Returns the values in the form in which a pipeline takes them.
pipeline::TunedValues values_of(const std::vector<results::OpTuning>& tunings);

// Finds a value for a parameter that is "auto": how many calls or files at once deliver most. It knows neither clocks
// nor pipelines, only what the caller measures.

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

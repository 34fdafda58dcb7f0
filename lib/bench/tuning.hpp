// Finds the values of parameters that are "auto" before a trial's first repeat, by measuring: each tried value gets a
// new pipeline, just as a repeat would, whose batches are dropped immediately.
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

// How thoroughly to try values.
struct TuningPlan {
  // A window begins after two batches, or after the images that the pipeline may have read ahead if these are more. It
  // ends after this time and at least as many images again, four batches or more.
  double window_s = 0.3;
  // The number of rounds in which two values are measured alternately: two if the new value is far ahead, and up to
  // most_rounds while the windows of one value scatter, as on a busy machine.
  int rounds = 3;
  int most_rounds = 8;
  double most_s = 60;  // then no more values of a parameter are tried
};

// Returns the values found for each parameter of the trial's pipeline that is "auto", in the order of the list. All
// ranks try the same value at the same time, as in a repeat, and get the same result. Logs it on rank 0, under `trial`.
// Collective over context.communicator.
// @throws as run_repeat(), except when a finite pipeline ends
std::vector<results::OpTuning> tune_input(const TrialContext& context, const std::string& trial,
                                          const TuningPlan& plan);

// Returns whether the trial's pipeline has such a parameter.
bool has_auto(const spec::TrialSpec& spec);

// Returns the values in the form for a pipeline.
pipeline::TunedValues values_of(const std::vector<results::OpTuning>& tunings);

// Finds a value for a parameter that is "auto": the number of calls or files at once that is fastest. It uses only the
// caller's measurements, no clocks or pipelines.

// The rates of two values; only their ratio is meaningful.
struct TwoRates {
  double candidate = 0;
  double reference = 0;
};
// Measures two values alternately, and returns their rates. Empty: the time is up.
using CompareValues = std::function<std::optional<TwoRates>(std::int64_t candidate, std::int64_t reference)>;

struct FoundValue {
  struct Point {
    std::int64_t value = 0;
    double gain = 1;  // relative to the chosen value
  };
  std::int64_t value = 0;
  std::string reason;         // "6 added 0.8 %, 3 lost 5.1 %"
  std::vector<Point> points;  // the tried ones, by value
};

// Chooses from `values`, which ascend and contain `start`. Climbs from the start to larger values until two of them in
// a row add less than 2 % to the best one. If none added 2 %, goes down from the start as long as nothing is lost.
// Takes the smallest value within 2 % of the best, to save memory and threads, but none below the start unless one of
// those was 2 % faster: short windows do not show how more calls compensate for a stalled one.
FoundValue find_value(std::span<const std::int64_t> values, std::int64_t start, const CompareValues& compare);

// The rate of a pipeline in a window that begins once its initial read-ahead is used up.
struct WindowPlan {
  double window_s = 0.3;  // minimum length of a window
  // Images that the pipeline may have read ahead when it starts to deliver. The window begins after this many, which do
  // not show how fast it reads, and includes at least this many, to cover all phases of reading equally.
  std::int64_t images_ahead = 0;
};

// Measures the rate from each batch and its time of arrival. Reads no clock.
class RateWindow {
 public:
  RateWindow(const WindowPlan& plan, double begin_s) : plan_(plan), begin_s_(begin_s), open_s_(begin_s) {}

  // Takes a batch of `images` images. Returns the images/s of the window once it is complete.
  std::optional<double> take(std::int64_t images, double arrived_s);
  // Returns the rate if the pipeline ends now: that of the window so far, or of everything if it never opened.
  double end(double now_s) const;

 private:
  const WindowPlan plan_;
  const double begin_s_;
  double open_s_;
  bool is_open_ = false;
  int batches_ = 0;  // before the window or in it
  std::int64_t images_ = 0, images_before_ = 0;
};

}  // namespace chexbench::bench

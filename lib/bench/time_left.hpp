// Forecasts the time left for a run over several trials, steadily enough to plan by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/step_observer.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Returns the time of the validation after an epoch as a share of the time of the epoch's steps, if computing limits
// both: forward is about a third of the operations of forward and backward. 0 without epochs.
double validation_share(const spec::TrainingSpec& training);

// Counts down, and follows a changed forecast slowly if others disturb the run. The time left rises if more work
// becomes known, and otherwise only if the shown time is far too short, as on a machine that has become permanently
// slower. Not thread-safe.
class Countdown {
 public:
  // The data behind a forecast.
  struct Known {
    std::size_t repeats = 0;  // those planned, of all trials
    std::size_t trials = 0;   // those with a finished repeat
    bool operator==(const Known&) const = default;
  };
  // Takes a new forecast, made at `now_s`, and returns the time to show.
  double update(double now_s, double forecast_s, const Known& known);

 private:
  double updated_s_ = 0;
  double estimate_s_ = 0;
  double shown_s_ = 0;
  Known known_;  // no repeat before the first update
};

// The time for the remaining repeats, each estimated from those of its trial or, before there are any, from those of
// the others. All times are from one arbitrary clock. Not thread-safe.
class TimeLeft {
 public:
  // The report must outlive this object.
  explicit TimeLeft(const results::Report& report);

  void begin(std::size_t trial, int repeat, double now_s);
  // Records a step of the current repeat.
  void step(const StepProgress& progress, double now_s);
  // The repeat ended, or was taken from an earlier run, and took `spent_s`.
  void end(std::size_t trial, double spent_s);
  // No further repeat of the trial is planned.
  void finish(std::size_t trial);

  std::size_t repeats_done() const;
  std::size_t repeats_planned() const;  // of all trials
  int repeats_planned(std::size_t trial) const { return trials_[trial].total; }

  // Returns the time left after the last step, which must have been recorded; std::nullopt until a repeat allows an
  // estimate: in a training over epochs after a tenth of the first epoch, because epochs are alike.
  std::optional<double> left_s(double now_s);

 private:
  struct Repeat {
    double spent_s = 0;
    double steps_s = 0;  // from its first step to its last one
    double tail_s = 0;   // after that
  };
  struct Planned {
    int done = 0;
    int total = 0;
    double spent_s = 0;
    std::vector<Repeat> last;  // at most three
  };
  // A step of the current repeat: its end, and the share of the repeat's work done by then.
  struct Mark {
    double time_s = 0;
    double share = 0;
  };
  void forget_steps();
  static Repeat typical(const Planned& planned);
  std::optional<double> own_left_s(double now_s) const;
  std::optional<double> usual_repeat_s(double now_s) const;
  double repeat_left_s(const Repeat& usual, double now_s) const;
  double total_left_s(double now_s) const;  // of measure.max_total_seconds
  std::optional<double> forecast_s(double now_s) const;

  const results::Report& report_;
  std::vector<Planned> trials_;  // as in the report
  std::size_t trial_ = 0;
  double began_s_ = 0;
  std::optional<Mark> first_, last_;
  double part_ = 1;  // share of the repeat's work in this run: below 1 if an earlier run trained some steps
  Countdown countdown_;
};

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
